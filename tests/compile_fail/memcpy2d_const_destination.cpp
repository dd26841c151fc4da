// A 2D copy to const memory.
// expect-error: cudag: the destination of a memcpy is const
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
          [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy2d(from, to);
#else
    builder.memcpy2d(to, from);
#endif
}
