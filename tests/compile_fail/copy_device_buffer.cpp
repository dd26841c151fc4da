// A copy of a DeviceBuffer.
// expect-error: deleted
// expect-error: cudag::DeviceBuffer
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
