// A fill through a raw pointer, which has no length.
// expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host range, or a shared_ptr
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, int* to) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset(to, 0);
#else
    builder.memset(cudag::DeviceSpan<int>(to, 4), 0);
#endif
}
