// Flags for the special nodes of a graph.
#include "node_flags.hpp"

#include "graph_records.hpp"
#include "graph_tree.hpp"
#include "native_graph.hpp"

#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"

#include <algorithm>

namespace cudag::detail {

namespace {

/// Looks inside only if the nodes are read: another thread may be reading them.
template <class Has>
bool is_inside(const GraphState& graph, const Has& has) {
    return records_of(graph).has_known_nodes() &&
           std::ranges::any_of(nested_of(graph), [&](const auto& inner) { return has(*inner); });
}

bool has_native_memory_nodes(cudaGraph_t graph) {
    std::size_t count = 0;
    checked<GraphError>(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> nodes(count);
    if (count != 0) checked<GraphError>(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
    return std::ranges::any_of(nodes, [](cudaGraphNode_t node) {
        cudaGraphNodeType type{};
        checked<GraphError>(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
        if (type != cudaGraphNodeTypeGraph)
            return type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree;
        return has_native_memory_nodes(child_graph_of(node));
    });
}

} // namespace

bool may_have_memory_nodes(const GraphState& graph) {
    return records_of(graph).is_read() ? has_memory_nodes(graph) : has_native_memory_nodes(native_of(graph));
}

bool has_memory_nodes(const GraphState& graph) {
    records_of(graph).read_nodes();
    return records_of(graph).special().memory ||
           is_inside(graph, [](const GraphState& inner) { return has_memory_nodes(inner); });
}

bool has_host_tasks(const GraphState& graph) noexcept {
    return records_of(graph).special().host_tasks.load(std::memory_order_relaxed) ||
           is_inside(graph, [](const GraphState& inner) { return has_host_tasks(inner); });
}

bool has_device_updatable(const GraphState& graph) noexcept {
    return records_of(graph).special().device_updatable.load(std::memory_order_relaxed) ||
           is_inside(graph, [](const GraphState& inner) { return has_device_updatable(inner); });
}

bool may_have_device_updatable(const GraphState& graph) noexcept {
    return records_of(graph).special().read ||
           records_of(graph).special().device_updatable.load(std::memory_order_relaxed) ||
           is_inside(graph, [](const GraphState& inner) { return may_have_device_updatable(inner); });
}

} // namespace cudag::detail
