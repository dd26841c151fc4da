// A 2D memset of a plain range.
// expect-error: cudag: memset2d fills a DeviceSpan2D
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& memory) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset2d(memory, 1);
#else
    builder.memset(memory, 1);
#endif
}
