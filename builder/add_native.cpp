// Additions of nodes from CUDA's own description of them.
#include "cuda/compat.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "node/node_params.hpp"
#include "read/reader.hpp"
#include "require_allowed.hpp"

#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>

#include <utility>

namespace cudag::detail {

namespace {

void require_describable(NodeKind kind, const SourceLocation& where) {
    if (kind != NodeKind::conditional) return;
    refuse("CUDA does not report the conditions and bodies of a node; use if_, while_ or switch_",
           new_node_subject(kind, where));
}

void require_fit_body(const GraphState& graph) {
    if (graph.tree().place() != Place::body) return;
    const auto index = static_cast<std::uint32_t>(graph.records().nodes().size() - 1);
    if (const char* reason = why_not_in_body(graph.records().nodes()[index].params); reason != nullptr)
        refuse(fmt::format("{} takes no such copy: {}", describe_place(graph), reason),
               node_subject(graph, index, "native: "));
}

} // namespace

Node add_native(GraphState& graph, cudaGraphNodeParams& params, const SourceLocation& where) {
    const auto kind = static_cast<NodeKind>(params.type); // the values are equal
    require_allowed(graph, kind, where);
    require_describable(kind, where);
    bind_context();
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = compat::graph_add_node(&node, graph.native(), &params);
    if (status != cudaSuccess) raise_call<GraphError>(status, "cudaGraphAddNode", new_node_subject(kind, where));
    try {
        describe_region(graph, {node}, where);
    } catch (...) {
        ignore(cudaGraphDestroyNode(node));
        throw;
    }
    try {
        require_fit_body(graph);
    } catch (...) {
        graph.remove_last();
        throw;
    }
    return graph.identity().handle(static_cast<std::uint32_t>(graph.records().nodes().size() - 1));
}

} // namespace cudag::detail
