// The conditions of a root graph, and which nodes look at them.
#pragma once

#include <cudag/condition.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;
class Renumbering;

struct ConditionRecord {
    cudaGraphConditionalHandle handle;
    std::optional<unsigned> initial;
    int device;
    SourceLocation location;
    const GraphState* user = nullptr; ///< the graph of the node that looks at it; null if none does
    std::uint32_t node = 0;
    bool abandoned = false; ///< by a body that threw: CUDA cannot take a condition back
    bool left = false;      ///< by a node that was removed: others may still set it, and another node may have it

    /// Whether no node will look at it: it is nobody's mistake.
    [[nodiscard]] bool is_left_over() const noexcept { return abandoned || (left && user == nullptr); }
};

/// CUDA takes no condition back: those that a body made which then threw are left over, and are given to who next asks
/// for one that is made alike. The others stand in the order in which they were asked for, so that a body's are the
/// last ones when it throws.
class Conditions {
  public:
    /// All that CUDA has, those left over, too, by handle: as a rule in the order in which they were made.
    [[nodiscard]] const std::vector<ConditionRecord>& all() const noexcept { return all_; }
    [[nodiscard]] ConditionRecord* find(cudaGraphConditionalHandle handle) noexcept;
    [[nodiscard]] const ConditionRecord* find(cudaGraphConditionalHandle handle) const noexcept;
    /// How many are not left over.
    [[nodiscard]] std::size_t count() const noexcept { return asked_for_.size(); }

    /// Room for one that is made so; `add`, `abandon_from` and `take_abandoned` then cannot fail.
    void reserve(std::optional<unsigned> initial, int device);
    void add(const ConditionRecord& condition) noexcept;
    /// One that was left over, made so, and is no longer; null if there is none.
    ConditionRecord* take_abandoned(std::optional<unsigned> initial, int device) noexcept;
    /// Leaves over all but the first `count`, at which no node looks any more.
    void abandon_from(std::size_t count) noexcept;
    /// Nodes of `graph` have gone, with the graphs inside them, which are still there, but inside it no more.
    void renumber(const GraphState& graph, const Renumbering& next) noexcept;

  private:
    struct Alike {
        std::size_t count = 0;
        std::vector<cudaGraphConditionalHandle> abandoned = {}; ///< with room for all of them
    };

    std::vector<ConditionRecord> all_;
    std::vector<cudaGraphConditionalHandle> asked_for_; ///< with room for all
    std::map<std::pair<std::optional<unsigned>, int>, Alike> alike_;
};

} // namespace cudag::detail
