// A kernel with a parameter that cannot be copied to the device.
// expect-error: cudag: kernel parameters must be trivially copyable
#include <cudag/builder.hpp>

#include <string>

__global__ void takes_object(std::string text);
__global__ void takes_pointer(const char* text);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] const std::string& host,
          [[maybe_unused]] cudag::DeviceSpan<char> device) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), takes_object, host);
#else
    builder.kernel(cudag::LaunchConfig(), takes_pointer, device);
#endif
}
