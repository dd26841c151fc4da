// A logical edge.
#pragma once

#include <cudag/edge.hpp>

#include <cstdint>

namespace cudag::detail {

/// By node index.
struct EdgeRecord {
    std::uint32_t from;
    std::uint32_t to;
    EdgeKind kind = EdgeKind::full;
    friend bool operator==(const EdgeRecord&, const EdgeRecord&) = default;
};

} // namespace cudag::detail
