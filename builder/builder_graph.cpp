// The device of a builder's view: made current for one call.
#include <cudag/detail/builder_graph.hpp>

#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"

namespace cudag::detail {

BuilderGraph::BuilderGraph(GraphState& graph, int device) : graph_(graph) {
    int current = 0;
    checked<GraphError>(cudaGetDevice(&current), "cudaGetDevice");
    if (current != device) checked<GraphError>(cudaSetDevice(device), "cudaSetDevice");
    previous_ = current;
    graph.set_builder_device(device);
}

void BuilderGraph::leave_device() noexcept {
    if (graph_.set_builder_device(any_device) != previous_) ignore(cudaSetDevice(previous_));
}

} // namespace cudag::detail
