// The memset nodes of one exec that are disabled, which are parked where CUDA would forget their order.
#pragma once

#include "graph/node_place.hpp"
#include "node/node_params.hpp"
#include "shadows.hpp"

#include <cuda_runtime_api.h>

#include <list>

namespace cudag::detail {

class ExecState;

/// Enables or disables CUDA's node. Throws UpdateError, and changes nothing.
void set_native_enabled(cudaGraphExec_t exec, const NodePlace& node, bool enabled);

class DisabledMemsets {
  public:
    [[nodiscard]] const std::list<NodePlace>& all() const noexcept { return nodes_; }

    /// Throws UpdateError, and changes nothing.
    void enable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow);
    void disable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow);

    /// Parks a disabled memset that now has `params`, if it needs that; if CUDA fails, before the next launch.
    void park_again(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params) noexcept;
    /// The same with all inside `graph`.
    void park_inside(const ExecState& exec, const GraphState& graph) noexcept;
    /// To be called before launches. Throws Error if CUDA fails once more.
    void require_parked(const ExecState& exec) {
        if (must_park_) [[unlikely]]
            park_all(exec);
    }

  private:
    void park_all(const ExecState& exec);

    std::list<NodePlace> nodes_;
    bool must_park_ = false; ///< one is not parked that should be
};

} // namespace cudag::detail
