// A captured function whose reference would be handed out.
// expect-error: cudag: capture() hands out what the function returns, which must be a value, not a reference
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, cudag::StreamRef stream, int& result) {
#ifdef CUDAG_EXPECT_ERROR
    builder.capture(stream, [&](cudaStream_t) -> int& { return result; });
#else
    builder.capture(stream, [&](cudaStream_t) -> int { return result; });
#endif
}
