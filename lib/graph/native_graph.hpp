// CUDA's graph behind a graph of cudag.
#pragma once

#include <cudag/plan.hpp>

#include <cuda_runtime_api.h>

#include <memory>

namespace cudag::detail {

class GraphState;

/// Makes the state of a new graph, which takes over `native`.
[[nodiscard]] std::shared_ptr<GraphState> make_graph(cudaGraph_t native);
[[nodiscard]] cudaGraph_t native_of(const GraphState& graph) noexcept;
/// Writes the edges to CUDA: see GraphState::complete_native.
void complete_native(GraphState& graph, const Plan* plan = nullptr);
/// Release and take ownership of CUDA's graph: only its owner destroys it.
void give_up_native(GraphState& graph) noexcept;
void take_native(GraphState& graph) noexcept;
/// Whether CUDA's graph belongs to others, although it is inside no node.
[[nodiscard]] bool is_borrowed(const GraphState& graph) noexcept;

} // namespace cudag::detail
