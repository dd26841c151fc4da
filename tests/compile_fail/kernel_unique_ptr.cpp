// A unique_ptr, which a graph cannot share, as a kernel argument.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

#include <memory>

__global__ void work(float* x);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] std::unique_ptr<float>& unique,
          [[maybe_unused]] const std::shared_ptr<float>& shared) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, unique);
#else
    builder.kernel(cudag::LaunchConfig(), work, shared);
#endif
}
