// A logical edge.
#pragma once

#include <cudag/edge.hpp>

#include <cstdint>
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

} // namespace cudag::detail
