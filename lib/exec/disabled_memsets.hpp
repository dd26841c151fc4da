// The disabled memset nodes of one exec, parked if CUDA would forget their order.
#pragma once

#include "graph/node_place.hpp"
#include "node/node_params.hpp"
#include "shadows.hpp"

#include <cuda_runtime_api.h>

#include <list>

namespace cudag::detail {

class ExecState;

/// Enables or disables CUDA's node. Throws UpdateError, and changes nothing, if CUDA refuses.
void set_native_enabled(cudaGraphExec_t exec, const NodePlace& node, bool enabled);

class DisabledMemsets {
  public:
    [[nodiscard]] const std::list<NodePlace>& all() const noexcept { return nodes_; }

    /// Enable or disable a memset node. Throw UpdateError, and change nothing, if CUDA refuses.
    void enable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow);
    void disable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow);

    /// Parks a disabled memset that has taken `params`, if necessary. If CUDA fails, `require_parked` tries again.
    void park_again(cudaGraphExec_t exec, const NodePlace& node, const NodeParams& params) noexcept;
    /// Parks all disabled memsets inside `graph` again.
    void park_inside(const ExecState& exec, const GraphState& graph) noexcept;
    /// Call before each launch. Throws Error if CUDA fails once more.
    void require_parked(const ExecState& exec) {
        if (must_park_) [[unlikely]]
            park_all(exec);
    }

  private:
    void park_all(const ExecState& exec);

    std::list<NodePlace> nodes_;
    bool must_park_ = false; ///< parking has failed for a memset
};

} // namespace cudag::detail
