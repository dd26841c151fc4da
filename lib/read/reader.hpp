// Records of nodes that cudag did not make: those of adopted graphs, and those that captures add.
#pragma once

#include "capture_names.hpp"
#include "graph/graph_state.hpp"
#include "node/captured_launch.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cudag::detail {

/// Describes the nodes that a capture, begun at `where`, has added to CUDA's graph, `natives` in CUDA's order, and
/// appends them to `graph`, with the edges that lead to them, which count as written; returns these edges. Throws
/// GraphError if CUDA cannot describe a node, and then changes nothing in `graph`: what becomes of CUDA's nodes is up
/// to the caller. Takes no time for what the graph has already, unless there is memory among the new nodes.
std::vector<EdgeRecord> describe_region(GraphState& graph, std::vector<cudaGraphNode_t>&& natives,
                                        const SourceLocation& where);

/// Gives the nodes of `graph` from `first` on, which a capture has added, the names that they lack. `names` counts as
/// CUDA does, where that one is number `first_native`.
void name_nodes(GraphState& graph, std::uint32_t first, std::uint32_t first_native, const CaptureNames& names);

/// Notes that a capture has ended when CUDA's graph had `nodes`. Its stream's next node would have come after `front`.
void note_front(GraphEdges& edges, std::span<const cudaGraphNode_t> nodes, std::span<const cudaGraphNode_t> front);

/// Notes what captured nodes of `graph` were launched with.
void note_launches(GraphState& graph, std::vector<CapturedLaunch>&& launches);

/// A built graph that owns `native`, a graph that was captured; its nodes are described when something needs them.
/// `front` is what the stream's next node would have come after.
[[nodiscard]] std::shared_ptr<GraphState> captured_graph(cudaGraph_t native, CaptureNames&& names,
                                                         std::vector<cudaGraphNode_t>&& front = {},
                                                         std::vector<CapturedLaunch>&& launches = {});

/// The same for a graph that was made in any other way, described at once. Throws GraphError, and leaves `native` to
/// the caller, if CUDA cannot describe it.
[[nodiscard]] std::shared_ptr<GraphState> adopted_graph(cudaGraph_t native);

} // namespace cudag::detail
