// A 2D copy of ints to floats.
// expect-error: cudag: memcpy needs the same element type on both sides
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
          [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy2d(cudag::DeviceSpan2D<float>(), from);
#else
    builder.memcpy2d(to, from);
#endif
}
