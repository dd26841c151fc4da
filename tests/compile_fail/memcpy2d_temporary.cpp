// A 2D copy from a temporary vector.
// expect-error: cudag: a temporary range is gone when the graph runs
#include <cudag/builder.hpp>

#include <utility>
#include <vector>

void call(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> to, std::vector<int>& from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy2d(to, cudag::HostSpan2D<int>(std::move(from), 4, 2));
#else
    builder.memcpy2d(to, cudag::HostSpan2D<int>(from, 4, 2));
#endif
}
