// An update with a 3D and a 2D region.
// expect-error: cudag: a copy has one dimension, two or three: give both operands the same
#include <cudag/builder.hpp>

void call(cudag::Graph& graph, cudag::MemcpyNode node, cudag::DeviceSpan3D<int> to, cudag::DeviceSpan2D<int> from) {
#ifdef CUDAG_EXPECT_ERROR
    graph.update(node, to, from);
#else
    graph.update(node, to.slice(0), from);
#endif
}
