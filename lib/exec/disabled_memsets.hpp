// The disabled memset nodes of one exec, parked if CUDA would forget their order, and its disabled copies of batches.
#pragma once

#include "graph/node_place.hpp"
#include "node/node_params.hpp"
#include "shadows.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <list>
#include <vector>

namespace cudag::detail {

class ExecState;

/// Enables or disables CUDA's node. Throws UpdateError, and changes nothing, if CUDA refuses.
void set_native_enabled(cudaGraphExec_t exec, const NodePlace& node, bool enabled);

/// Returns the batch without the bytes of its disabled copies, in `list`.
[[nodiscard]] CopyBatchParams without_disabled(const CopyBatchParams& batch, const std::vector<bool>& disabled,
                                               std::vector<CopyOfBatch>& list);

class DisabledMemsets {
  public:
    [[nodiscard]] const std::list<NodePlace>& all() const noexcept { return nodes_; }

    /// Enable or disable a memset node. Throw UpdateError, and change nothing, if CUDA refuses.
    void enable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow);
    void disable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow);

    /// Parks a disabled memset that has taken `params`, if necessary. If CUDA fails, `require_parked` tries again.
    void park_again(cudaGraphExec_t exec, const NodePlace& node, const NodeParams& params) noexcept;
    /// The batches with disabled copies.
    [[nodiscard]] const std::list<NodePlace>& batches() const noexcept { return batches_; }
    /// Whether there are disabled memsets or copies.
    [[nodiscard]] bool any() const noexcept { return any_; }

    /// Enables or disables a copy of a batch. Throws UpdateError, and changes nothing, if CUDA refuses.
    void set_enabled(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow, std::uint32_t copy, bool enabled);
    /// Takes the bytes of disabled copies from a batch that has taken `params`. If CUDA fails, `require_parked` tries
    /// again.
    void take_bytes_again(cudaGraphExec_t exec, const NodePlace& node, const NodeParams& params,
                          const std::vector<bool>& disabled) noexcept;

    /// Parks all disabled memsets and copies inside `graph` again.
    void park_inside(const ExecState& exec, const GraphState& graph) noexcept;
    /// Call before each launch. Throws Error if CUDA fails once more.
    void require_parked(const ExecState& exec) {
        if (must_park_) [[unlikely]]
            park_all(exec);
    }

  private:
    void park_all(const ExecState& exec);

    std::list<NodePlace> nodes_;
    std::list<NodePlace> batches_;
    bool any_ = false;
    bool must_park_ = false; ///< parking has failed for a node
};

} // namespace cudag::detail
