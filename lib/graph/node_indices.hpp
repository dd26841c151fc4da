// The indices of nodes by their native handles.
#pragma once

#include "lists/none.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// A hash table of indices into a growing list of nodes, which the caller holds.
class NodeIndices {
  public:
    NodeIndices() = default;
    explicit NodeIndices(std::span<const cudaGraphNode_t> nodes) { extend(nodes); }

    /// Adds the nodes behind those added before: constant time for each, on average over all calls.
    void extend(std::span<const cudaGraphNode_t> nodes) {
        if (slots_.size() < 2 * nodes.size()) {
            std::size_t size = 16;
            while (size < 2 * nodes.size())
                size *= 2;
            std::vector<std::uint32_t>(size, none).swap(slots_);
            count_ = 0;
        }
        for (; count_ < nodes.size(); ++count_) {
            std::size_t slot = first_slot(nodes[count_]);
            while (slots_[slot] != none)
                slot = (slot + 1) % slots_.size();
            slots_[slot] = static_cast<std::uint32_t>(count_);
        }
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    void clear() noexcept {
        slots_.clear();
        count_ = 0;
    }

    /// Returns the index of `node` in `nodes`, the added list; `none` for any other node.
    [[nodiscard]] std::uint32_t find(std::span<const cudaGraphNode_t> nodes, cudaGraphNode_t node) const noexcept {
        if (slots_.empty()) return none;
        std::size_t slot = first_slot(node);
        while (slots_[slot] != none && nodes[slots_[slot]] != node)
            slot = (slot + 1) % slots_.size();
        return slots_[slot];
    }

  private:
    [[nodiscard]] std::size_t first_slot(cudaGraphNode_t node) const noexcept {
        // The product spreads neighbouring addresses; the size is a power of two.
        return (reinterpret_cast<std::uintptr_t>(node) * std::uint64_t{0x9e3779b97f4a7c15} >> 32U) % slots_.size();
    }

    std::vector<std::uint32_t> slots_;
    std::size_t count_ = 0;
};

} // namespace cudag::detail
