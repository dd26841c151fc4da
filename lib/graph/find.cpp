// Searches for a node in a graph and in the graphs inside it.
#include "find.hpp"

#include "cuda/driver.hpp"
#include "names.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

namespace cudag::detail {

std::string describe_native(const GraphState& graph, cudaGraphNode_t native) {
    if (const NodePlace node = find_native(graph, native)) return node.describe();
    CUgraphNodeType type{};
    if (driver().graph_node_get_type(native, &type) != CUDA_SUCCESS) return "a node that cudag does not know";
    return fmt::format("a node of kind {} that cudag does not know, since it was added through CUDA's handle",
                       static_cast<NodeKind>(type));
}

} // namespace cudag::detail
