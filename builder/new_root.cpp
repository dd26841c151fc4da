// Graphs written node by node without a GraphBuilder.
#include "new_root.hpp"

#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "graph/check_edges.hpp"
#include "graph/graph_state.hpp"
#include "order/memory_check.hpp"

namespace cudag::detail {

std::shared_ptr<GraphState> empty_graph() {
    cudaGraph_t native = nullptr;
    checked<GraphError>(cudaGraphCreate(&native, 0), "cudaGraphCreate");
    UniqueGraph owner(native);
    auto state = std::make_shared<GraphState>(native);
    static_cast<void>(owner.release());
    state->construction().options.races = Races::allowed;
    return state;
}

void finish_written(GraphState& graph, const char* action, const SourceLocation& where) {
    check_edges(graph, action);
    if (!graph.records().allocations().list().empty()) check_graph_memory(graph);
    graph.edge_lists().merge(graph.records().nodes().size());
    graph.construction().is_built = true;
    graph.construction().made_at = where;
}

} // namespace cudag::detail
