// A DeviceScalar of what bytes do not make.
// expect-error: cudag: a buffer holds trivially copyable, non-const elements
#include <cudag/device_scalar.hpp>

#include <memory>

void call() {
#ifdef CUDAG_EXPECT_ERROR
    const cudag::DeviceScalar<std::shared_ptr<int>> scalar(nullptr);
#else
    const cudag::DeviceScalar<int*> scalar(nullptr);
#endif
    static_cast<void>(scalar);
}
