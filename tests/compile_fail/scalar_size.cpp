// A DeviceScalar of more bytes than memsets shall carry.
// expect-error: cudag: a DeviceScalar has at most 16 bytes
#include <cudag/device_scalar.hpp>

#include <array>

void call() {
#ifdef CUDAG_EXPECT_ERROR
    const cudag::DeviceScalar<std::array<double, 3>> scalar({});
#else
    const cudag::DeviceScalar<std::array<double, 2>> scalar({});
#endif
    static_cast<void>(scalar);
}
