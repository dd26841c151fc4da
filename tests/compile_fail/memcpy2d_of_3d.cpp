// A 2D copy of 3D regions.
// expect-error: cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, cudag::DeviceSpan3D<int> to, cudag::HostSpan3D<const int> from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy2d(to, from);
#else
    builder.memcpy2d(to.slice(0), from.slice(0));
#endif
}
