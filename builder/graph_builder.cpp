// GraphBuilder: from the first node to the finished Graph.
#include <cudag/builder.hpp>

#include "failure.hpp"
#include "graph_state.hpp"

#include <string>
#include <utility>

namespace cudag {

using detail::GraphState;

namespace {

std::shared_ptr<GraphState> make_state() {
    cudaGraph_t native = nullptr;
    detail::checked<GraphError>(cudaGraphCreate(&native, 0), "cudaGraphCreate");
    try {
        return std::make_shared<GraphState>(native);
    } catch (...) {
        detail::ignore(cudaGraphDestroy(native));
        throw;
    }
}

[[noreturn]] void refuse_cycle(const GraphState& graph, const std::vector<std::uint32_t>& cycle) {
    detail::Subject subject{"build", {}, graph.nodes()[cycle.front()].location};
    std::string path;
    for (const std::uint32_t node : cycle) {
        path += describe_node(graph, node) + " -> ";
        subject.labels.emplace_back(graph.nodes()[node].label);
    }
    path += describe_node(graph, cycle.front());
    detail::refuse("the edges close a cycle: " + path + "; remove one of these .after edges", std::move(subject));
}

[[noreturn]] void refuse_contradiction(const GraphState& graph, const std::vector<detail::EdgeRecord>& edges) {
    const detail::EdgeRecord& first = edges.front();
    const detail::NodeRecord& to = graph.nodes()[first.to];
    detail::Subject subject{
        "build: " + describe_node(graph, first.to),
        {std::string(graph.nodes()[first.from].label), std::string(to.label)},
        to.location,
    };
    detail::refuse("it comes after " + describe_node(graph, first.from) + " by a " +
                       std::string(to_string(first.kind)) + " and by a " + std::string(to_string(edges.back().kind)) +
                       " edge; CUDA allows one edge between two nodes: keep one of these .after",
                   std::move(subject));
}

} // namespace

GraphBuilder::GraphBuilder() : state_(make_state()) {}
GraphBuilder::GraphBuilder(std::shared_ptr<GraphState> state) noexcept : state_(std::move(state)), is_view_(true) {}
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;
GraphBuilder& GraphBuilder::operator=(GraphBuilder&&) noexcept = default;
GraphBuilder::~GraphBuilder() = default;

GraphState& GraphBuilder::state() const {
    if (!state_) detail::refuse("a GraphBuilder that was moved from or built was used");
    return *state_;
}

void GraphBuilder::check() const {
    if (const GraphState* body = state().open_body(); body != nullptr)
        detail::refuse("build: " + describe_place(*body) + " is being written; build() when it has ended");
    if (const auto cycle = state().find_cycle(); !cycle.empty()) refuse_cycle(*state_, cycle);
    if (const auto edges = state_->find_contradiction(); !edges.empty()) refuse_contradiction(*state_, edges);
}

Graph GraphBuilder::build() && {
    if (is_view_)
        detail::refuse("build: this builder adds to a graph that another one builds; build() is called on that one");
    check();
    state_->merge_edges();
    state_->set_built();
    return Graph(std::move(state_));
}

} // namespace cudag
