// An int* where the kernel takes a float*.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

__global__ void work(float* x);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] int* i, [[maybe_unused]] float* f) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, i);
#else
    builder.kernel(cudag::LaunchConfig(), work, f);
#endif
}
