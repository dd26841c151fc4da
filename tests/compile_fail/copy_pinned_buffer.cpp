// A copy of a PinnedBuffer.
// expect-error: cudag: a PinnedBuffer has one owner: std::move(buffer), or its span()
#include <cudag/buffer.hpp>

#include <utility>

void call(cudag::PinnedBuffer<int>& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::PinnedBuffer<int> other = owner;
    static_cast<void>(other);
#else
    cudag::PinnedBuffer<int> other = std::move(owner);
    static_cast<void>(other);
#endif
}
