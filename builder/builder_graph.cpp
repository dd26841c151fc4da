// The device of a builder's view, current during one call.
#include <cudag/detail/builder_graph.hpp>

#include "cuda/failure.hpp"
#include "graph/construction.hpp"

#include <utility>

namespace cudag::detail {

BuilderGraph::BuilderGraph(GraphState& graph, int device) : graph_(graph) {
    int current = 0;
    checked<GraphError>(cudaGetDevice(&current), "cudaGetDevice");
    if (current != device) checked<GraphError>(cudaSetDevice(device), "cudaSetDevice");
    previous_ = current;
    construction_of(graph).device = device;
}

void BuilderGraph::leave_device() noexcept {
    if (std::exchange(construction_of(graph_).device, any_device) != previous_)
        report_release(cudaSetDevice(previous_), "cudaSetDevice");
}

} // namespace cudag::detail
