// A logical edge.
#pragma once

#include <cudag/edge.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

namespace cudag::detail {

/// An edge between two nodes, named by their indices.
struct EdgeRecord {
    std::uint32_t from;
    std::uint32_t to;
    EdgeKind kind = EdgeKind::full;
    friend bool operator==(const EdgeRecord&, const EdgeRecord&) = default;
};

/// Sorts by the edge's target, then by its source.
[[nodiscard]] inline bool edge_precedes(const EdgeRecord& a, const EdgeRecord& b) {
    return std::tie(a.to, a.from, a.kind) < std::tie(b.to, b.from, b.kind);
}

/// Returns the first edge between the nodes of `edge`; null if there is none. `edges` are sorted.
[[nodiscard]] inline const EdgeRecord* find_ends(std::span<const EdgeRecord> edges, const EdgeRecord& edge) {
    const auto found = std::lower_bound(edges.begin(), edges.end(), EdgeRecord{edge.from, edge.to}, edge_precedes);
    return found == edges.end() || found->from != edge.from || found->to != edge.to ? nullptr : &*found;
}

} // namespace cudag::detail
