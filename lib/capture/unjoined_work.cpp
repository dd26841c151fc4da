// Search for the unjoined work of a capture, and its description.
#include "unjoined_work.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/node_calls.hpp"
#include "edges/edge_record.hpp"
#include "graph/node_indices.hpp"
#include "lists/none.hpp"
#include "read/edge_reader.hpp"

#include <cudag/format.hpp>
#include <cudag/node.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cudag::detail {

namespace {

/// Marks the nodes of `front`, and all that they depend on, among `nodes`.
std::vector<bool> joined_nodes(const std::vector<cudaGraphNode_t>& nodes, const std::vector<cudaGraphNode_t>& front) {
    std::vector<bool> is_joined(nodes.size());
    if (front.size() == 1 && !nodes.empty() && front.front() == nodes.back()) {
        is_joined.back() = true; // as usual
    } else {
        const NodeIndices indices(nodes);
        for (const cudaGraphNode_t node : front)
            if (const std::uint32_t index = indices.find(nodes, node); index != none) is_joined[index] = true;
    }
    const std::vector<EdgeRecord> edges = EdgeReader(nodes).edges(0);
    const auto spread = [&] {
        bool is_complete = true;
        for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) { // by node, the last one first
            if (!is_joined[edge->to] || is_joined[edge->from]) continue;
            is_joined[edge->from] = true;
            is_complete = is_complete && edge->from < edge->to;
        }
        return is_complete;
    };
    while (!spread()) // again only after an edge from a later node, which no capture makes
        ;
    return is_joined;
}

std::string name_of(cudaGraphNode_t node) {
    CUgraphNodeType type{};
    checked_driver<GraphError>(driver().graph_node_get_type(node, &type), "cuGraphNodeGetType");
    const auto kind = static_cast<NodeKind>(type); // equal values
    if (kind != NodeKind::kernel) return std::string(to_string(kind));
    return fmt::format("kernel {}", kernel_name(read_native_node(node, CU_GRAPH_NODE_TYPE_KERNEL).kernel.func));
}

std::string step_of(std::uint32_t number, const CaptureNames& names) {
    const NamedNodes* nearest = nullptr;
    for (const NamedNodes& stretch : names.stretches())
        if (stretch.first <= number && number < stretch.end && (nearest == nullptr || nearest->depth < stretch.depth))
            nearest = &stretch;
    if (nearest == nullptr) return {};
    return fmt::format(" in step \"{}\" at {}", without_nul(nearest->label), nearest->location);
}

} // namespace

std::string unjoined_work(cudaGraph_t graph, std::uint32_t first, const std::vector<cudaGraphNode_t>& front,
                          const CaptureNames& names) {
    constexpr std::size_t most = 10;
    try {
        bind_context();
        const std::vector<cudaGraphNode_t> nodes = nodes_from(graph, first);
        const std::vector<bool> is_joined = joined_nodes(nodes, front);
        const auto all = static_cast<std::size_t>(std::ranges::count(is_joined, false));
        std::string text;
        std::size_t shown = 0;
        for (std::uint32_t i = 0; i < nodes.size() && shown < std::min(all, most); ++i) {
            if (is_joined[i]) continue;
            text += (shown++ == 0 ? "" : ", ") + name_of(nodes[i]) + step_of(first + i, names);
        }
        if (all > shown) text += fmt::format(", and {} more", all - shown);
        return text;
    } catch (const GraphError&) {
        return {};
    }
}

} // namespace cudag::detail
