// A 2D memset of ints with a double.
// expect-error: cudag: memset value cannot become the element type
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> memory) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset2d(memory, 1.5);
#else
    builder.memset2d(memory, 1);
#endif
}
