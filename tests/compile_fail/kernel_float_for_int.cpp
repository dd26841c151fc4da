// A float where the kernel takes an int.
// expect-error: cudag: a number must not lose by becoming the parameter's type: write it in that type, such as 2.0f
#include <cudag/builder.hpp>

__global__ void work(int n);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, 16.0f);
#else
    builder.kernel(cudag::LaunchConfig(), work, 16);
#endif
}
