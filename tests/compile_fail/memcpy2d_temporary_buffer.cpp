// A region that borrows a temporary buffer.
// expect-error: cudag: a temporary range is gone when the graph runs
#include <cudag/builder.hpp>

#include <utility>

void call(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> to, cudag::DeviceBuffer<int>& from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy2d(to, cudag::DeviceSpan2D<int>(std::move(from), 4, 2));
#else
    builder.memcpy2d(to, cudag::DeviceSpan2D<int>(from, 4, 2));
#endif
}
