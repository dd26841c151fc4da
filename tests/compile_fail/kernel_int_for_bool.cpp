// An int where the kernel takes a bool.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

__global__ void work(bool wanted);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, 1);
#else
    builder.kernel(cudag::LaunchConfig(), work, true);
#endif
}
