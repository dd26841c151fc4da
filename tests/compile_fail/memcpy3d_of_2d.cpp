// A 3D copy to a 2D region.
// expect-error: cudag: memcpy3d copies between DeviceSpan3D, HostSpan3D and ArraySpan
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, cudag::DeviceSpan3D<int> to, cudag::HostSpan3D<const int> from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy3d(to.slice(0), from);
#else
    builder.memcpy3d(to, from);
#endif
}
