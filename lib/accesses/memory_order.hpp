// The order of nodes by edges, as far as memory is concerned.
#pragma once

#include "edges/edge_record.hpp"
#include "edges/precedence.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// Whether an edge orders the memory accesses of its ends. A programmatic edge does: cudag::programmatic requires the
/// later kernel to wait for the earlier one to finish. A launch-completion edge does not: CUDA treats it as a wish.
[[nodiscard]] constexpr bool orders_memory(EdgeKind kind) noexcept {
    return kind != EdgeKind::launch_completion;
}

/// Whether edges that order memory lead from each node to the next number, so that all nodes are ordered.
[[nodiscard]] bool is_line(std::size_t nodes, const std::vector<EdgeRecord>& edges);

/// Answers whether a path of edges that order memory connects two nodes, in either direction. Construction takes nodes
/// + edges; an answer takes as long as with Precedence, and no time if all nodes form one line.
class MemoryOrder {
  public:
    /// `edges` are acyclic.
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
    std::optional<Precedence> precedence_; ///< empty for a line
    std::vector<std::uint32_t> asked_;
};

} // namespace cudag::detail
