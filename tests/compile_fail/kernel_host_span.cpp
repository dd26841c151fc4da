// A std::span, which is host memory, as a kernel argument.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

#include <span>

__global__ void work(float* x);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] std::span<float> host,
          [[maybe_unused]] cudag::DeviceSpan<float> device) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, host);
#else
    builder.kernel(cudag::LaunchConfig(), work, device);
#endif
}
