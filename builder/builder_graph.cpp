// The device of a builder's view, current during one call.
#include <cudag/detail/builder_graph.hpp>

#include "cuda/failure.hpp"
#include "cuda/numbered_contexts.hpp"
#include "graph/construction.hpp"

#include <utility>

namespace cudag::detail {

BuilderGraph::BuilderGraph(GraphState& graph, int device) : graph_(graph) {
    int current = 0;
    checked<GraphError>(cudaGetDevice(&current), "cudaGetDevice");
    if (is_context_number(device))
        push_numbered_context(device);
    else if (current != device)
        checked<GraphError>(cudaSetDevice(device), "cudaSetDevice");
    previous_ = current;
    outer_ = std::exchange(construction_of(graph).device, device);
}

void BuilderGraph::leave_device() noexcept {
    const int device = std::exchange(construction_of(graph_).device, outer_);
    if (is_context_number(device))
        pop_context();
    else if (device != previous_)
        report_release(cudaSetDevice(previous_), "cudaSetDevice");
}

} // namespace cudag::detail
