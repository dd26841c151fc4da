// GraphBuilder: from the first node to the finished Graph.
#include <cudag/builder.hpp>

#include "failure.hpp"
#include "graph_state.hpp"

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
    state_->check_edges("build");
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
