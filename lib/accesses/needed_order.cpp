// The necessary order of accesses, node by node.
#include "needed_order.hpp"

#include "lists/assertion.hpp"

#include <utility>

namespace cudag::detail {

NeededOrder::NeededOrder(const AccessList& accesses, std::size_t nodes)
    : accesses_(accesses), memory_(accesses), cells_(memory_.size()), first_(nodes + 1), seen_in_(nodes) {
    CUDAG_ASSERT(accesses.is_by_node());
    members_.reserve(accesses.size());
    for (std::size_t i = 0; i < accesses.size(); ++i)
        ++first_[accesses.node_of(i) + 1];
    for (std::size_t node = 0; node < nodes; ++node)
        first_[node + 1] += first_[node];
}

std::span<const NeededOrder::After> NeededOrder::take(std::uint32_t node) {
    after_.clear();
    for (std::uint32_t access = first_[node]; access < first_[node + 1]; ++access)
        take_access(access);
    seen_in_[node] = ++turn_;
    return after_;
}

inline std::uint32_t NeededOrder::add_to(std::uint32_t list, std::uint32_t access) {
    members_.push_back({access, accesses_.node_of(access), list, list == none ? 1 : members_[list].length + 1});
    return static_cast<std::uint32_t>(members_.size() - 1);
}

inline void NeededOrder::come_after(std::uint32_t list, std::uint32_t access) {
    if (after_.empty() || after_.back().list != list) after_.push_back({list, access});
}

/// Adds an access to a cell. Returns whether it is now the only latest access.
inline bool NeededOrder::take_cell(Cell& cell, std::uint32_t access, const AccessOrder& order, std::uint32_t& alone) {
    if (cell.alike != none) leave_alike(cell);
    if (order.mode == AccessMode::read && order.unit != 0 && cell.order == AccessOrder{AccessMode::write, order.unit})
        return false; // the node writes there, too: a region declares the same accesses for all its nodes with
                      // declarations
    if (cell.latest != none && commute(cell.order, order)) {
        if (cell.before != none) come_after(cell.before, access);
        cell.latest = add_to(cell.latest, access);
        return false;
    }
    if (cell.latest != none) come_after(cell.latest, access);
    cell.before = cell.latest;
    if (alone == none) alone = add_to(none, access);
    cell.latest = alone;
    cell.order = order;
    return true;
}

void NeededOrder::take_access(std::uint32_t access) {
    const std::uint32_t block = accesses_.block_of(access);
    const AccessOrder order = accesses_.order_of(access);
    const std::span<const std::uint32_t> cells = memory_.of(block);
    std::uint32_t alone = none; // the list of this access alone
    if (cells.size() == 1) return static_cast<void>(take_cell(cells_[cells.front()], access, order, alone));
    if (cells.empty() || join_alike(cells, access)) return;
    bool are_alike = true;
    for (const std::uint32_t number : cells)
        are_alike = take_cell(cells_[number], access, order, alone) && are_alike;
    if (!are_alike || order.mode == AccessMode::write) return;
    for (const std::uint32_t number : cells)
        cells_[number].alike = static_cast<std::uint32_t>(alike_.size());
    alike_.push_back({block, static_cast<std::uint32_t>(cells.size()), alone, unknown, order});
}

/// Joins an access to its cells at once if they are all alike, and have been since another access to the same block.
bool NeededOrder::join_alike(std::span<const std::uint32_t> cells, std::uint32_t access) {
    const std::uint32_t number = cells_[cells.front()].alike;
    if (number == none) return false;
    Alike& alike = alike_[number];
    const bool is_same = alike.block == accesses_.block_of(access) && alike.cells == cells.size();
    if (!is_same || !commute(alike.order, accesses_.order_of(access))) return false;
    if (alike.before == unknown) alike.before = before_all(cells);
    if (alike.before != none) come_after(alike.before, access);
    alike.latest = add_to(alike.latest, access);
    return true;
}

std::uint32_t NeededOrder::before_all(std::span<const std::uint32_t> cells) {
    ++turn_;
    std::uint32_t all = none;
    std::uint32_t last = none;
    for (const std::uint32_t number : cells)
        if (const std::uint32_t before = cells_[number].before; std::exchange(last, before) != before)
            for (std::uint32_t member = before; member != none; member = members_[member].next)
                if (std::exchange(seen_in_[members_[member].node], turn_) != turn_)
                    all = add_to(all, members_[member].access);
    return all;
}

void NeededOrder::leave_alike(Cell& cell) {
    Alike& alike = alike_[std::exchange(cell.alike, none)];
    --alike.cells;
    cell.latest = alike.latest;
    cell.order = alike.order;
}

void NeededOrder::add_conflicts(const After& after, std::vector<Conflict>& conflicts) {
    for (std::uint32_t member = after.list; member != none; member = members_[member].next) {
        const Member& other = members_[member];
        if (std::exchange(seen_in_[other.node], turn_) != turn_) conflicts.push_back({other.access, after.access});
    }
}

} // namespace cudag::detail
