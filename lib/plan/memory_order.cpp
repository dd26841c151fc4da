// Which nodes of a graph the edges order, as far as memory goes.
#include "memory_order.hpp"

#include "topological_order.hpp"

#include <algorithm>
#include <iterator>

namespace cudag::detail {

MemoryOrder::MemoryOrder(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    std::ranges::copy_if(edges, std::back_inserter(edges_), [](const EdgeRecord& e) { return orders_memory(e.kind); });
    order_ = topological_order(edges_, EdgeGroups(nodes, edges_, &EdgeRecord::from));
    place_ = places_in(order_);
    std::vector<bool> has_next(nodes);
    for (const EdgeRecord& edge : edges_)
        if (place_[edge.to] == place_[edge.from] + 1) has_next[place_[edge.from]] = true;
    const auto links = static_cast<std::size_t>(std::ranges::count(has_next, true));
    if (links + 1 < nodes) precedence_.emplace(edges_, order_, place_);
}

bool MemoryOrder::are_ordered(std::uint32_t a, std::uint32_t b) {
    if (is_line()) return true;
    if (place_[a] > place_[b]) std::swap(a, b);
    asked_.assign(1, a);
    precedence_->remove_ordered(b, asked_);
    return asked_.empty();
}

} // namespace cudag::detail
