// A std::vector, which is host memory, as a kernel argument.
// expect-error: cudag: host memory is not readable on the device: copy it to a DeviceBuffer, or use a PinnedBuffer
#include <cudag/builder.hpp>

#include <vector>

__global__ void work(float* x);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] std::vector<float>& host,
          [[maybe_unused]] const cudag::DeviceBuffer<float>& device) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, host);
#else
    builder.kernel(cudag::LaunchConfig(), work, device);
#endif
}
