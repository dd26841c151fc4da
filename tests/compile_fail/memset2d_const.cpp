// A 2D memset of const memory.
// expect-error: cudag: the destination of a memset is const
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
          [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset2d(from, 1);
#else
    builder.memset2d(to, 1);
#endif
}
