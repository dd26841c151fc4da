// Which accesses must come after which others, node by node.
#include "needed_order.hpp"

namespace cudag::detail {

NeededOrder::NeededOrder(std::span<const MemoryAccess> accesses, std::size_t nodes)
    : accesses_(accesses), memory_(accesses), cells_(memory_.size()), first_(nodes + 1), seen_by_(nodes, none) {
    members_.reserve(accesses.size());
    for (const MemoryAccess& access : accesses)
        ++first_[access.node + 1];
    for (std::size_t node = 0; node < nodes; ++node)
        first_[node + 1] += first_[node];
}

std::span<const Conflict> NeededOrder::take(std::uint32_t node) {
    found_.clear();
    seen_by_[node] = node;
    for (std::uint32_t access = first_[node]; access < first_[node + 1]; ++access)
        take_access(access);
    return found_;
}

void NeededOrder::take_access(std::uint32_t access) {
    const AccessMode mode = accesses_[access].mode;
    for (const std::uint32_t number : memory_.of(access)) {
        Cell& cell = cells_[number];
        if (cell.latest == none || !commute(cell.mode, mode)) {
            cell.before = cell.latest;
            cell.latest = none;
            cell.mode = mode;
        }
        if (cell.before != none) come_after(cell.before, access);
        members_.push_back({access, accesses_[access].node, cell.latest});
        cell.latest = static_cast<std::uint32_t>(members_.size() - 1);
    }
}

void NeededOrder::come_after(std::uint32_t member, std::uint32_t access) {
    const std::uint32_t node = accesses_[access].node;
    for (; member != none; member = members_[member].next) {
        std::uint32_t& seen_by = seen_by_[members_[member].node];
        if (seen_by == node) continue;
        seen_by = node;
        found_.push_back({members_[member].access, access});
    }
}

} // namespace cudag::detail
