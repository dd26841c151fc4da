// A const float* where the kernel takes a float*.
// expect-error: cudag: a pointer to const cannot become one to what the kernel may write
#include <cudag/builder.hpp>

__global__ void work(float* x);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] const float* constant, [[maybe_unused]] float* variable) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, constant);
#else
    builder.kernel(cudag::LaunchConfig(), work, variable);
#endif
}
