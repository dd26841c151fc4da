// Which accesses must come after which others, node by node.
#pragma once

#include "access_cells.hpp"
#include "conflicts.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Takes nodes in an order, and tells of each which accesses it must come after: enough that paths of these order all
/// that conflict.
///
/// Each cell of memory has its latest accesses that commute, and those before them. What commutes with the latest comes
/// after those before them, and joins them; anything else comes after all of the latest, and takes their place. Since
/// each of the latest comes after all of those before, what came earlier still needs no more than that.
class NeededOrder {
  public:
    /// `accesses`, by node in ascending order, must outlive this.
    NeededOrder(std::span<const MemoryAccess> accesses, std::size_t nodes);

    /// The conflicts of the next node with those that were taken, one with each; until the next call.
    [[nodiscard]] std::span<const Conflict> take(std::uint32_t node);

  private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;
    struct Cell {
        std::uint32_t latest = none; ///< which of `members_`
        std::uint32_t before = none;
        AccessMode mode{}; ///< of the latest
    };
    struct Member {
        std::uint32_t access;
        std::uint32_t node;
        std::uint32_t next;
    };

    void take_access(std::uint32_t access);
    void come_after(std::uint32_t member, std::uint32_t access);

    std::span<const MemoryAccess> accesses_;
    AccessCells memory_;
    std::vector<Cell> cells_;
    std::vector<Member> members_;
    std::vector<std::uint32_t> first_;   ///< by node: its first access
    std::vector<std::uint32_t> seen_by_; ///< by node: the last one that was found to come after it
    std::vector<Conflict> found_;
};

} // namespace cudag::detail
