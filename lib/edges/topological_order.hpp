// A topological order: an order of nodes respected by all edges.
#pragma once

#include "edge_groups.hpp"

#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The nodes in an order respected by all `edges`, which are acyclic. `outgoing` are these edges by source.
[[nodiscard]] std::vector<std::uint32_t> topological_order(const std::vector<EdgeRecord>& edges,
                                                           const EdgeGroups& outgoing);

/// The place of each node in such an order.
[[nodiscard]] std::vector<std::uint32_t> places_in(const std::vector<std::uint32_t>& order);

/// Whether all edges lead to nodes with higher numbers, so that the numbers are such an order.
[[nodiscard]] bool are_forward(const std::vector<EdgeRecord>& edges) noexcept;

} // namespace cudag::detail
