// The conditions of a root graph, and which nodes look at them.
#pragma once

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

class GraphState;

struct ConditionRecord {
    cudaGraphConditionalHandle handle;
    std::optional<unsigned> initial;
    int device;
    SourceLocation location;
    const GraphState* user = nullptr; ///< the graph of the node that looks at it; null if none does
    std::uint32_t node = 0;
    bool left_over = false; ///< by a body that threw: CUDA cannot take a condition back
};

/// In the order in which they were made.
class Conditions {
  public:
    [[nodiscard]] ConditionRecord* find(cudaGraphConditionalHandle handle) noexcept;
    /// Null if no node looks at `handle`.
    [[nodiscard]] const ConditionRecord* find_of_node(const GraphState& graph, std::uint32_t node) const noexcept;
    [[nodiscard]] const std::vector<ConditionRecord>& all() const noexcept { return all_; }
    [[nodiscard]] ConditionRecord& at(std::size_t i) noexcept { return all_[i]; }
    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }

    void reserve() { all_.reserve(all_.size() + 1); }
    void add(const ConditionRecord& condition) noexcept { all_.push_back(condition); }
    /// Takes out a condition that was left over, and that would be made alike.
    [[nodiscard]] std::optional<ConditionRecord> take_left_over(std::optional<unsigned> initial, int device) noexcept;
    /// Node `node` of `graph` is about to go, with all inside it: conditions made since there were `count` are left
    /// over, those that it used are free again.
    void roll_back(std::size_t count, const GraphState& graph, std::uint32_t node) noexcept;

  private:
    std::vector<ConditionRecord> all_;
};

} // namespace cudag::detail
