// A double where the kernel takes a float.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

__global__ void work(float factor);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, 2.0);
#else
    builder.kernel(cudag::LaunchConfig(), work, 2.0f);
#endif
}
