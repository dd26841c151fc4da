// Graph: queries, clones, and the way to an Exec.
#include <cudag/graph.hpp>

#include "failure.hpp"
#include "graph_state.hpp"
#include "kernel_name.hpp"

#include <utility>

namespace cudag {

using detail::GraphState;

Graph::Graph(std::shared_ptr<GraphState> state) noexcept : state_(std::move(state)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

GraphState& Graph::state() const {
    if (!state_) detail::refuse("a moved-from Graph was used");
    if (state_->is_orphan()) detail::refuse("the Graph is inside a node of a graph that no longer exists");
    return *state_;
}

std::size_t Graph::node_count() const {
    return state().nodes().size();
}
std::size_t Graph::edge_count() const {
    return state().edges().size();
}

std::vector<Node> Graph::nodes() const {
    const GraphState& graph = state();
    std::vector<Node> result;
    result.reserve(graph.nodes().size());
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
        result.push_back(graph.handle(i));
    return result;
}

std::vector<Edge> Graph::edges() const {
    const GraphState& graph = state();
    std::vector<Edge> result;
    result.reserve(graph.edges().size());
    for (const detail::EdgeRecord& edge : graph.edges())
        result.push_back({graph.handle(edge.from), graph.handle(edge.to), edge.kind});
    return result;
}

std::vector<Node> Graph::find(std::string_view label) const {
    const GraphState& graph = state();
    std::vector<Node> result;
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
        if (graph.nodes()[i].label == label) result.push_back(graph.handle(i));
    return result;
}

std::vector<Node> Graph::find_kernel(const void* symbol) const {
    GraphState& graph = state();
    const CUfunction function =
        graph.function_of(symbol, [&] { return detail::Subject{"find " + detail::kernel_name(symbol)}; });
    std::vector<Node> result;
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
        const auto* kernel = std::get_if<const detail::KernelParams*>(&graph.nodes()[i].params);
        if (kernel != nullptr && (*kernel)->function == function) result.push_back(graph.handle(i));
    }
    return result;
}

Graph Graph::clone() const {
    GraphState& graph = state();
    graph.complete_native();
    cudaGraph_t native = nullptr;
    detail::checked<GraphError>(cudaGraphClone(&native, graph.native()), "cudaGraphClone");
    std::shared_ptr<GraphState> copy;
    try {
        copy = std::make_shared<GraphState>(native, graph);
    } catch (...) {
        detail::ignore(cudaGraphDestroy(native));
        throw;
    }
    copy->find_natives_in_clone();
    return Graph(std::move(copy));
}

Node Graph::counterpart_of(const Node& original) const {
    const GraphState& graph = state();
    if (!graph.is_of_origin(original))
        detail::refuse("the node is not of the graph that this one was cloned from",
                       node_subject(GraphState::of(original), GraphState::index_unchecked(original), "counterpart: "));
    return graph.handle(GraphState::index_unchecked(original));
}

cudaGraph_t Graph::native() const {
    state().complete_native();
    return state().native();
}

} // namespace cudag
