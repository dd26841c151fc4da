// A copy of a DeviceBuffer.
// expect-error: cudag: a DeviceBuffer has one owner: std::move(buffer), or its span()
#include <cudag/buffer.hpp>

#include <utility>

void call(cudag::DeviceBuffer<int>& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::DeviceBuffer<int> other = owner;
    static_cast<void>(other);
#else
    cudag::DeviceBuffer<int> other = std::move(owner);
    static_cast<void>(other);
#endif
}
