// A unique_ptr, which a graph cannot share, as a kernel argument.
// expect-error: cudag: a unique_ptr cannot be kept by a graph: pass get(), or a shared_ptr
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
