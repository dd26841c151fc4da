// A copy from a temporary vector.
// expect-error: cudag: a temporary host range is gone when the graph runs; pass an lvalue
#include <cudag/builder.hpp>

#include <utility>
#include <vector>

void call(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& to, std::vector<int>& from) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy(to, std::move(from));
#else
    builder.memcpy(to, from);
#endif
}
