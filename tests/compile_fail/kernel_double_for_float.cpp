// A double where the kernel takes a float.
// expect-error: cudag: a number must not lose by becoming the parameter's type: write it in that type, such as 2.0f
#include <cudag/builder.hpp>

__global__ void work(float factor);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, 2.0);
#else
    builder.kernel(cudag::LaunchConfig(), work, 2.0f);
#endif
}
