// A set of edges with fast lookup.
#pragma once

#include "edge_record.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace cudag::detail {

class EdgeSet {
  public:
    explicit EdgeSet(std::span<const EdgeRecord> edges) : sorted_(edges.begin(), edges.end()) {
        std::sort(sorted_.begin(), sorted_.end(), edge_precedes);
    }
    [[nodiscard]] bool contains(const EdgeRecord& edge) const {
        return std::binary_search(sorted_.begin(), sorted_.end(), edge, edge_precedes);
    }

  private:
    std::vector<EdgeRecord> sorted_;
};

} // namespace cudag::detail
