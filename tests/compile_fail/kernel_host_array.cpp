// An array, which is host memory, as a kernel argument.
// expect-error: cudag: a host array is not readable on the device; copy it to a DeviceBuffer
#include <cudag/builder.hpp>

__global__ void work(float* x);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] float (&host)[4],
          [[maybe_unused]] cudag::DeviceSpan<float> device) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, host);
#else
    builder.kernel(cudag::LaunchConfig(), work, device);
#endif
}
