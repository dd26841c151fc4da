// A float where the kernel takes an int.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

__global__ void work(int n);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, 16.0f);
#else
    builder.kernel(cudag::LaunchConfig(), work, 16);
#endif
}
