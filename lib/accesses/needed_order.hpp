// The necessary order of accesses, node by node.
#pragma once

#include "access_cells.hpp"
#include "conflicts.hpp"
#include "lists/none.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Takes nodes in an order and returns, for each, the accesses that must precede it: enough that paths of these order
/// all conflicting accesses.
///
/// Each cell of memory has its latest accesses, which commute, and the accesses before them. An access that commutes
/// with the latest depends on those before them, and joins the latest. Any other access depends on all of the latest,
/// and replaces them. Since each of the latest depends on all accesses before it, even earlier accesses need no further
/// order.
///
/// Accesses stand in immutable lists shared by cells: if many accesses depend on the same many, the list has the same
/// number. Cells that one access has made alike take further accesses to its block as one.
class NeededOrder {
  public:
    /// An access, by its place, that depends on all accesses in a list.
    struct After {
        std::uint32_t list;
        std::uint32_t access;
    };

    /// `accesses` are by node in ascending order and must outlive this. Among a region's declared accesses to a node,
    /// writes come first.
    NeededOrder(const AccessList& accesses, std::size_t nodes);

    /// Takes the next node and returns the predecessors of its accesses, valid until the next call. They may include
    /// the node itself.
    [[nodiscard]] std::span<const After> take(std::uint32_t node);
    /// Makes an already taken node the current one. Its predecessors stay as they were.
    void look_at(std::uint32_t node) { seen_in_[node] = ++turn_; }
    /// Excludes conflicts of the current node with `other`.
    void leave_out(std::uint32_t other) { seen_in_[other] = turn_; }
    /// Adds the conflicts of the current node with a list, but only one for each other node since the node became
    /// current.
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
    /// The first element of a list; its index names the list.
    struct Member {
        std::uint32_t access;
        std::uint32_t node;
        std::uint32_t next;
        std::uint32_t length;
    };
    struct Cell {
        std::uint32_t latest = none; ///< a list
        std::uint32_t before = none;
        std::uint32_t alike = none; ///< if it is one of several alike cells: the entry that replaces `latest` and
                                    ///< `order`
        AccessOrder order;          ///< of the latest
    };
    /// Cells of a block with the same latest accesses, all to this block.
    struct Alike {
        std::uint32_t block;
        std::uint32_t cells; ///< number of cells still alike
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
    std::vector<std::uint32_t> seen_in_; ///< by node: the last turn that found it
};

} // namespace cudag::detail
