// A logical edge.
#pragma once

#include <cudag/edge.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

namespace cudag::detail {

/// By node index.
struct EdgeRecord {
    std::uint32_t from;
    std::uint32_t to;
    EdgeKind kind = EdgeKind::full;
    friend bool operator==(const EdgeRecord&, const EdgeRecord&) = default;
};

/// By the node that an edge leads to, then by the one that it comes from.
[[nodiscard]] inline bool edge_precedes(const EdgeRecord& a, const EdgeRecord& b) {
    return std::tie(a.to, a.from, a.kind) < std::tie(b.to, b.from, b.kind);
}

/// The first of `edges`, which are sorted, between the nodes of `edge`; null if there is none.
[[nodiscard]] inline const EdgeRecord* find_ends(std::span<const EdgeRecord> edges, const EdgeRecord& edge) {
    const auto found = std::lower_bound(edges.begin(), edges.end(), EdgeRecord{edge.from, edge.to}, edge_precedes);
    return found == edges.end() || found->from != edge.from || found->to != edge.to ? nullptr : &*found;
}

} // namespace cudag::detail
