// A 1D copy of 2D regions.
// expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host range
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
          [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy(to, from);
#else
    builder.memcpy2d(to, from);
#endif
}
