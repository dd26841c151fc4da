// Which nodes of a graph the edges order, as far as memory goes.
#pragma once

#include "edges/edge_record.hpp"
#include "edges/precedence.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// Whether an edge orders what its ends do to memory. A programmatic one does, for cudag::programmatic demands that the
/// kernel it leads to waits until the one before it has finished. CUDA takes launch completion as a wish: it does not.
[[nodiscard]] constexpr bool orders_memory(EdgeKind kind) noexcept {
    return kind != EdgeKind::launch_completion;
}

/// Whether edges that order memory lead from each node to the one with the next number, so that each two are ordered.
[[nodiscard]] bool is_line(std::size_t nodes, const std::vector<EdgeRecord>& edges);

/// Answers whether paths of edges that order memory lead from one of two nodes to the other. Making it takes as long as
/// there are nodes and edges; an answer takes what Precedence takes, and no time where all nodes stand in one line.
class MemoryOrder {
  public:
    /// `edges` close no cycle.
    MemoryOrder(std::size_t nodes, const std::vector<EdgeRecord>& edges);
    MemoryOrder(const MemoryOrder&) = delete;
    MemoryOrder& operator=(const MemoryOrder&) = delete;

    /// Whether each two nodes are ordered.
    [[nodiscard]] bool is_line() const noexcept { return !precedence_; }
    [[nodiscard]] bool are_ordered(std::uint32_t a, std::uint32_t b);

  private:
    std::vector<EdgeRecord> edges_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> place_;
    std::optional<Precedence> precedence_; ///< none of a line
    std::vector<std::uint32_t> asked_;
};

} // namespace cudag::detail
