// A copy of a Stream.
// expect-error: deleted
// expect-error: cudag::Stream
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
