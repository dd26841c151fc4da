// A PinnedBuffer of elements that nobody can write.
// expect-error: cudag: a buffer holds trivially copyable, non-const elements
#include <cudag/buffer.hpp>

void call() {
#ifdef CUDAG_EXPECT_ERROR
    cudag::PinnedBuffer<const int> buffer(4);
    static_cast<void>(buffer);
#else
    cudag::PinnedBuffer<int> buffer(4);
    static_cast<void>(buffer);
#endif
}
