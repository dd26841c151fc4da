// A function that returns a value as a kernel.
// expect-error: cudag: a kernel is a __global__ function or a pointer to one
#include <cudag/builder.hpp>

int returns(int n);
__global__ void work(int n);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), returns, 16);
#else
    builder.kernel(cudag::LaunchConfig(), work, 16);
#endif
}
