// A 2D copy of plain ranges.
// expect-error: cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan
#include <cudag/builder.hpp>

#include <vector>

void call(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& to, std::vector<int>& from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy2d(to, from);
#else
    builder.memcpy(to, from);
#endif
}
