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
///
/// Accesses stand in lists that never change, so that cells share them: where many come after the same many, the list
/// has the same number. Cells that one access has made alike take further ones of its region as one.
class NeededOrder {
  public:
    /// An access, by its place, that must come after all accesses in a list.
    struct After {
        std::uint32_t list;
        std::uint32_t access;
    };

    /// `accesses`, by node in ascending order, must outlive this. Of what a region declares of a node, writes come
    /// first.
    NeededOrder(const AccessList& accesses, std::size_t nodes);

    /// What the accesses of the next node must come after, until the next call. May name that node itself.
    [[nodiscard]] std::span<const After> take(std::uint32_t node);
    /// Makes a node that was taken before the one that was taken last; what it must come after stays as it was.
    void look_at(std::uint32_t node) { seen_in_[node] = ++turn_; }
    /// What the node that was taken last has in conflict with `other` is not added.
    void leave_out(std::uint32_t other) { seen_in_[other] = turn_; }
    /// Adds the conflicts of the node that was taken last with those in a list, but one for each other node since then.
    void add_conflicts(const After& after, std::vector<Conflict>& conflicts);
    [[nodiscard]] std::uint32_t length(std::uint32_t list) const { return members_[list].length; }
    /// Calls `use(node)` for each access in a list.
    template <class Use>
    void for_each_node(std::uint32_t list, const Use& use) const {
        for (; list != none; list = members_[list].next)
            use(members_[list].node);
    }
    template <class Predicate>
    [[nodiscard]] bool all_of(std::uint32_t list, const Predicate& is_true_for_node) const {
        while (list != none && is_true_for_node(members_[list].node))
            list = members_[list].next;
        return list == none;
    }

  private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;
    /// The first one of a list, which is named by it.
    struct Member {
        std::uint32_t access;
        std::uint32_t node;
        std::uint32_t next;
        std::uint32_t length;
    };
    struct Cell {
        std::uint32_t latest = none; ///< a list
        std::uint32_t before = none;
        std::uint32_t alike = none; ///< has `latest` and `order` instead, if it is one of some that are alike
        AccessOrder order;          ///< of the latest
    };
    /// Cells of a region with the same latest accesses, all through this region.
    struct Alike {
        std::uint32_t region;
        std::uint32_t cells; ///< that are still alike
        std::uint32_t latest;
        std::uint32_t before; ///< of all cells; `unknown` until another access joins
        AccessOrder order;
    };
    static constexpr std::uint32_t unknown = none - 1;

    void take_access(std::uint32_t access);
    bool take_cell(Cell& cell, std::uint32_t access, const AccessOrder& order, std::uint32_t& alone);
    [[nodiscard]] bool join_alike(std::span<const std::uint32_t> cells, std::uint32_t access);
    [[nodiscard]] std::uint32_t before_all(std::span<const std::uint32_t> cells);
    [[nodiscard]] std::uint32_t add_to(std::uint32_t list, std::uint32_t access);
    void leave_alike(Cell& cell);
    void come_after(std::uint32_t list, std::uint32_t access);

    const AccessList& accesses_;
    AccessCells memory_;
    std::vector<Cell> cells_;
    std::vector<Member> members_;
    std::vector<Alike> alike_;
    std::vector<std::uint32_t> first_; ///< by node: its first access
    std::vector<After> after_;
    std::uint32_t turn_ = 0;
    std::vector<std::uint32_t> seen_in_; ///< by node: the last turn in which it was found
};

} // namespace cudag::detail
