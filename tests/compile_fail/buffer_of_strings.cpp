// A DeviceBuffer of elements that bytes do not make.
// expect-error: cudag: a buffer holds trivially copyable, non-const elements
#include <cudag/buffer.hpp>

#include <string>

void call() {
#ifdef CUDAG_EXPECT_ERROR
    cudag::DeviceBuffer<std::string> buffer(4);
    static_cast<void>(buffer);
#else
    cudag::DeviceBuffer<char> buffer(4);
    static_cast<void>(buffer);
#endif
}
