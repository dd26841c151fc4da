// A std::string where the kernel takes a pointer.
// expect-error: cudag: host memory is not readable on the device: copy it to a DeviceBuffer, or use a PinnedBuffer
#include <cudag/builder.hpp>

#include <string>

__global__ void work(const char* text);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] const std::string& text,
          [[maybe_unused]] cudag::DeviceSpan<char> copy) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, text);
#else
    builder.kernel(cudag::LaunchConfig(), work, copy);
#endif
}
