// The devices of nodes, as far as CUDA or the builder knows them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>

namespace cudag::detail {

class GraphState;

/// Finds the devices of nodes. Asks CUDA once for each context. Needs a context: see bind_context.
class NodeDevices {
  public:
    /// Returns the device of a node: of a kernel as CUDA reports it, otherwise as given to the builder, otherwise the
    /// device of the memory of an allocation, a fill or a copy. any_device for nodes of no device, such as joins.
    [[nodiscard]] int of(const GraphState& graph, std::uint32_t index);
    [[nodiscard]] int of_kernel(cudaGraphNode_t node);
    /// Returns the device that must be current when the node is made again, if it was made without one: that of a
    /// kernel, of the memory of a fill, or of the graph memory of a copy. any_device for other nodes.
    [[nodiscard]] int to_make(const GraphState& graph, std::uint32_t index);

  private:
    std::map<CUcontext, int> of_context_;
};

} // namespace cudag::detail
