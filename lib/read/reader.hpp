// Records of nodes made without cudag: in adopted graphs, or by captures.
#pragma once

#include "capture_names.hpp"
#include "graph/graph_edges.hpp"
#include "node/captured_launch.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Describes `natives`, the nodes added to CUDA's graph by a capture begun at `where`, in CUDA's order. Appends them to
/// `graph` with their incoming edges, which count as written, and returns these edges. Throws GraphError, and leaves
/// `graph` unchanged, if CUDA cannot describe a node; CUDA's nodes are left to the caller. Takes no time for earlier
/// nodes, unless there is memory among the new ones.
std::vector<EdgeRecord> describe_region(GraphState& graph, std::vector<cudaGraphNode_t>&& natives,
                                        const SourceLocation& where);

/// Gives nodes of `graph` added by a capture, from `first` on, the names they lack. `names` counts as CUDA does: there
/// the first one is number `first_native`.
void name_nodes(GraphState& graph, std::uint32_t first, std::uint32_t first_native, const CaptureNames& names);

/// Records the end of a capture, when CUDA's graph had `nodes`: its stream's next node would have depended on `front`.
void note_front(GraphEdges& edges, std::span<const cudaGraphNode_t> nodes, std::span<const cudaGraphNode_t> front);

/// Records the launches of captured nodes of `graph`.
void note_launches(GraphState& graph, std::span<const CapturedLaunch> launches);

/// Makes a built graph that owns `native`, a captured graph. Its nodes are described when first needed. `front` is the
/// stream's front at the end of the capture.
[[nodiscard]] std::shared_ptr<GraphState> captured_graph(cudaGraph_t native, CaptureNames&& names,
                                                         std::vector<cudaGraphNode_t>&& front = {},
                                                         std::vector<CapturedLaunch>&& launches = {});

/// Makes a built graph that owns `native`, made in any other way, and describes it at once. Throws GraphError, and
/// leaves `native` to the caller, if CUDA cannot describe it.
[[nodiscard]] std::shared_ptr<GraphState> adopted_graph(cudaGraph_t native);

} // namespace cudag::detail
