// Graph: queries, clones and instantiation.
#include <cudag/format.hpp>
#include <cudag/graph.hpp>

#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "graph/clone_natives.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "host_memory.hpp"
#include "kernel_match.hpp"
#include "lists/spare_block.hpp"
#include "order/races.hpp"

#include <utility>

namespace cudag {

using detail::GraphIdentity;
using detail::GraphState;

namespace {

/// Appends the nodes of `graph`, then of graphs inside it, for which `is(record)` holds.
template <class Predicate>
void find_nodes(const GraphState& graph, std::vector<Node>& found, const Predicate& is) {
    for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i)
        if (is(graph.records().nodes()[i])) found.push_back(graph.identity().handle(i));
    for (const auto& inner : graph.nested())
        find_nodes(*inner, found, is);
}

std::vector<Node> find_launches(const GraphState& graph, detail::KernelMatch&& launches) {
    std::vector<Node> result;
    find_nodes(graph, result, [&](const detail::NodeRecord& node) { return launches(node.params); });
    return result;
}

} // namespace

Graph::Graph(std::shared_ptr<GraphState> state) noexcept : state_(std::move(state)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

GraphState& Graph::state() const {
    if (!state_) detail::refuse("a moved-from Graph was used");
    if (state_->identity().is_orphan()) detail::refuse("the Graph is inside a node of a graph that no longer exists");
    return *state_;
}

Graph& Graph::name(std::string_view text) & {
    state().construction().name = detail::without_nul(text);
    return *this;
}
Graph&& Graph::name(std::string_view text) && {
    return std::move(name(text));
}
std::string_view Graph::name() const {
    return state().construction().name;
}

std::size_t Graph::node_count() const {
    return state().records().nodes().size();
}
std::size_t Graph::edge_count() const {
    return state().edges().size();
}

std::vector<Node> Graph::nodes() const {
    const GraphState& graph = state();
    std::vector<Node> result;
    result.reserve(graph.records().nodes().size());
    for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i)
        result.push_back(graph.identity().handle(i));
    return result;
}

std::vector<Edge> Graph::edges() const {
    const GraphState& graph = state();
    std::vector<Edge> result;
    result.reserve(graph.edges().size());
    for (const detail::EdgeRecord& edge : graph.edges())
        result.push_back({graph.identity().handle(edge.from), graph.identity().handle(edge.to), edge.kind});
    return result;
}

std::vector<Node> Graph::find(std::string_view label) const {
    std::vector<Node> result;
    find_nodes(state(), result, [&](const detail::NodeRecord& node) { return node.label == label; });
    return result;
}

std::vector<Node> Graph::find_kernel(const void* symbol) const {
    return find_launches(state(), detail::KernelMatch(symbol, "find "));
}

std::vector<Node> Graph::find_function(const Function& function) const {
    return find_launches(state(), detail::KernelMatch(detail::Access::state(function)));
}

void Graph::keep(std::vector<std::shared_ptr<const void>>&& owners) {
    std::erase(owners, nullptr);
    GraphState& graph = state();
    const auto lock = graph.lock();
    keep_owners(graph, std::move(owners));
}

PoolId Graph::pool() const {
    return {state().construction().pool};
}

Node Graph::counterpart_of(const Node& original) const {
    const GraphState& graph = state();
    const Node found =
        graph.identity().is_clone() ? find_counterpart(graph, original, detail::HandlesOf::origin) : Node();
    if (found != Node()) return found;
    const GraphState& other = GraphIdentity::of(original);
    detail::refuse(fmt::format("the node is not of the graph that this one was cloned from, but of {}; this is {}{}",
                               detail::describe_graph(other), detail::describe_graph(graph),
                               graph.identity().is_clone() ? "" : ", which is no clone"),
                   node_subject(other, GraphIdentity::index_unchecked(original), "counterpart: "));
}

CapturedNode Graph::counterpart(const CapturedNode& original) const {
    const Node first = counterpart_of(detail::Access::first_node(original));
    return detail::Access::region_of(first, *detail::Access::nodes(original)); // in memory shared with the clone
}

cudaGraph_t Graph::native() const {
    detail::GraphState& graph = state();
    const auto lock = graph.lock();
    graph.complete_native();
    give_owners_to_native(graph);
    return graph.native();
}

std::vector<Race> Graph::races() const {
    read_all(state());
    const auto lock = state().lock();
    return detail::all_races_of(state());
}
std::vector<UntrackedArgument> Graph::untracked() const {
    read_all(state());
    const auto lock = state().lock();
    return detail::all_untracked_of(state());
}
std::vector<HostMemory> Graph::host_memory() const {
    read_all(state());
    const auto lock = state().lock();
    return detail::all_host_memory_of(state());
}

} // namespace cudag
