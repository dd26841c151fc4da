// A copy of a Stream.
// expect-error: cudag: a Stream has one owner: std::move(stream), or pass a StreamRef
#include <cudag/stream.hpp>

#include <utility>

void call(cudag::Stream& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::Stream other = owner;
    static_cast<void>(other);
#else
    cudag::Stream other = std::move(owner);
    static_cast<void>(other);
#endif
}
