// Transitive reduction of a graph that grows, where edges cannot be taken away again.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Takes the edges of a graph part by part, and tells of each part which of its edges a path of two or more full edges
/// implies that are known by then. An edge that is not full neither is implied nor implies another. The edges close no
/// cycle, and none is there twice.
///
/// Looks back from each node that got edges, as far as the earliest of them comes from where all lead forward, and at
/// no more than `most_steps` edges: of a node for which that is too few, no edge counts as implied. So each part takes
/// time in proportion to its edges. 4 bytes of memory for each edge, 8 for each node.
class GrowingReduction {
  public:
    static constexpr std::size_t most_steps = 4096;

    /// How many edges are known.
    [[nodiscard]] std::size_t size() const noexcept { return next_.size(); }
    /// `edges` are all of a graph of `nodes` nodes, those that are known first. Tells of the others, in order, whether
    /// each is implied. Where it throws, no edges are known.
    [[nodiscard]] std::vector<bool> add(std::size_t nodes, const std::vector<EdgeRecord>& edges);
    void clear() noexcept;

  private:
    void link(const std::vector<EdgeRecord>& edges);
    [[nodiscard]] bool find_ancestors(const std::vector<EdgeRecord>& edges, std::uint32_t node);
    template <class Use>
    void for_each_before(const std::vector<EdgeRecord>& edges, std::uint32_t node, const Use& use) const;

    std::vector<std::uint32_t> latest_;  ///< by node: its latest edge of those that lead to it
    std::vector<std::uint32_t> next_;    ///< by edge: the one before it that leads to the same node
    std::vector<std::uint32_t> turn_of_; ///< by node: in which turn it was found last
    std::uint32_t turn_ = 0;
    bool are_forward_ = true;
    std::vector<std::uint32_t> open_; ///< found in this turn, what comes before them not yet
};

} // namespace cudag::detail
