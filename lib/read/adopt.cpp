// Graph::adopt and Graph::view, for graphs made with CUDA's own functions.
#include <cudag/graph.hpp>

#include "cuda/failure.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_tree.hpp"
#include "graph/native_graph.hpp"
#include "reader.hpp"

#include <memory>

namespace cudag {

namespace detail {

namespace {

void fix_edges(GraphState& graph) noexcept {
    edge_lists_of(graph).plan().is_fixed = true;
    for (const auto& inner : nested_of(graph))
        fix_edges(*inner);
}

} // namespace

} // namespace detail

Graph Graph::adopt(cudaGraph_t graph) {
    if (graph == nullptr) detail::refuse("adopt: the graph is null");
    return Graph(detail::adopted_graph(graph));
}

Graph Graph::view(cudaGraph_t graph) {
    if (graph == nullptr) detail::refuse("view: the graph is null");
    const std::shared_ptr<detail::GraphState> state = detail::adopted_graph(graph);
    give_up_native(*state);
    detail::fix_edges(*state);
    return Graph(state);
}

} // namespace cudag
