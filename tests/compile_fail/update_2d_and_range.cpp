// An update with a region and a range.
// expect-error: cudag: a copy has one dimension, two or three: give both operands the same
#include <cudag/builder.hpp>

#include <vector>

void call(cudag::Exec& exec, cudag::MemcpyNode node, const cudag::DeviceBuffer<int>& to, std::vector<int>& from) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, cudag::DeviceSpan2D<int>(to, 4, 2), from);
#else
    exec.update(node, to, from);
#endif
}
