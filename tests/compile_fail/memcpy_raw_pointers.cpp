// A copy between raw pointers, which have no length.
// expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host range, or a shared_ptr
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, float* to, const float* from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy(to, from);
#else
    builder.memcpy(cudag::DeviceSpan<float>(to, 4), cudag::DeviceSpan<const float>(from, 4));
#endif
}
