// A std::string where the kernel takes a pointer.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
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
