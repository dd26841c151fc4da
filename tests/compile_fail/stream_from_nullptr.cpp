// nullptr as a stream: the default stream by mistake.
// expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
#include <cudag/stream.hpp>

void call([[maybe_unused]] cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::StreamRef ref = nullptr;
    static_cast<void>(ref);
#else
    cudag::StreamRef ref = stream;
    static_cast<void>(ref);
#endif
}
