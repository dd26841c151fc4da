// The conditions of a root graph, and the nodes that test them.
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
    const GraphState* user = nullptr; ///< the graph of the node that tests it; null if none does
    std::uint32_t node = 0;
    bool abandoned = false; ///< by a body that threw: CUDA cannot take a condition back
    bool left = false;      ///< by a removed node: others may still set it, and another node may test it
    bool is_read = false;   ///< from CUDA, with its node; CUDA does not report the initial value

    /// Whether no node needs to test it, so that an unused condition is no mistake of the user.
    [[nodiscard]] bool is_left_over() const noexcept { return abandoned || (left && user == nullptr); }
};

/// The conditions of a root. CUDA cannot delete a condition, so those of a body that threw are left over, and the next
/// request for an equal condition gets one of them. The others stand in the order of their requests: when a body
/// throws, its conditions are the last ones.
class Conditions {
  public:
    /// All of CUDA's conditions, including those left over, by handle: usually the order of their creation.
    [[nodiscard]] const std::vector<ConditionRecord>& all() const noexcept { return all_; }
    [[nodiscard]] ConditionRecord* find(cudaGraphConditionalHandle handle) noexcept;
    [[nodiscard]] const ConditionRecord* find(cudaGraphConditionalHandle handle) const noexcept;
    /// Number of conditions that are not abandoned.
    [[nodiscard]] std::size_t count() const noexcept { return asked_for_.size(); }

    /// Makes room for one condition of this kind: `add`, `abandon_from` and `take_abandoned` then cannot fail.
    void reserve(std::optional<unsigned> initial, int device);
    void add(const ConditionRecord& condition) noexcept;
    /// Takes back an abandoned condition of this kind; null if there is none.
    ConditionRecord* take_abandoned(std::optional<unsigned> initial, int device) noexcept;
    /// Abandons all conditions but the first `count`; no node may test the abandoned ones.
    void abandon_from(std::size_t count) noexcept;
    /// Makes room for `more` conditions read from CUDA.
    void reserve_read(std::size_t more);
    /// Adds a condition read from CUDA, or records its node if other code gave a known condition to the node.
    void add_read(const ConditionRecord& condition) noexcept;
    /// Adds all conditions of a graph read from CUDA, which comes inside this root.
    void add_read(const Conditions& inner) noexcept;
    /// Leaves the conditions of nodes of `graph` from `first` on, and of nodes inside these, before the nodes go.
    void leave_from(const GraphState& graph, std::uint32_t first) noexcept;
    /// Follows the removal of nodes of `graph`. The graphs inside them must still exist, but no longer be inside
    /// `graph`.
    void renumber(const GraphState& graph, const Renumbering& next) noexcept;

  private:
    struct Alike {
        std::size_t count = 0;
        std::vector<cudaGraphConditionalHandle> abandoned = {}; ///< has room for all
    };

    std::vector<ConditionRecord> all_;
    std::vector<cudaGraphConditionalHandle> asked_for_; ///< has room for all
    std::map<std::pair<std::optional<unsigned>, int>, Alike> alike_;
};

[[nodiscard]] const Conditions& conditions_of(const GraphState& root) noexcept;
[[nodiscard]] Conditions& conditions_of(GraphState& root) noexcept;

} // namespace cudag::detail
