// The order of nodes by edges, as far as memory is concerned.
#include "memory_order.hpp"

#include "edges/topological_order.hpp"

#include <algorithm>
#include <iterator>

namespace cudag::detail {

namespace {

/// Whether edges lead from each place to the next one.
template <class PlaceOf>
bool link_all(std::size_t nodes, const std::vector<EdgeRecord>& edges, const PlaceOf& place_of) {
    std::vector<bool> has_next(nodes);
    for (const EdgeRecord& edge : edges)
        if (orders_memory(edge.kind) && place_of(edge.to) == place_of(edge.from) + 1)
            has_next[place_of(edge.from)] = true;
    return static_cast<std::size_t>(std::ranges::count(has_next, true)) + 1 >= nodes;
}

} // namespace

bool is_line(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    if (edges.size() + 1 < nodes) return false;
    const auto is_next = [before = std::uint32_t{0}](const EdgeRecord& edge) mutable {
        return orders_memory(edge.kind) && edge.from == before && edge.to == ++before;
    };
    if (std::ranges::all_of(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(nodes == 0 ? 0 : nodes - 1),
                            is_next))
        return true; // as usually written
    return link_all(nodes, edges, [](std::uint32_t node) { return node; });
}

MemoryOrder::MemoryOrder(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    std::ranges::copy_if(edges, std::back_inserter(edges_), [](const EdgeRecord& e) { return orders_memory(e.kind); });
    order_ = topological_order(edges_, EdgeGroups(nodes, edges_, &EdgeRecord::from));
    place_ = places_in(order_);
    const auto place_of = [this](std::uint32_t node) { return place_[node]; };
    if (!link_all(nodes, edges_, place_of)) precedence_.emplace(edges_, order_, place_);
}

bool MemoryOrder::are_ordered(std::uint32_t a, std::uint32_t b) {
    if (is_line()) return true;
    if (place_[a] > place_[b]) std::swap(a, b);
    asked_.assign(1, a);
    precedence_->remove_ordered(b, asked_);
    return asked_.empty();
}

} // namespace cudag::detail
