// Transitive reduction of a growing graph whose edges cannot be removed again.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Takes the edges of a graph part by part and reports the implied edges of each part: those with a path of two or more
/// full edges known by then. An edge other than full is never implied and implies no other. The edges are acyclic and
/// unique.
///
/// Looks back from each target of new edges, over at most `most_steps` edges and, if all edges lead forward, no further
/// than its earliest direct predecessor. If the steps do not suffice for a node, none of its edges counts as implied.
/// Each part thus takes time in proportion to its edges. Memory: 4 bytes for each edge, 8 for each node.
class GrowingReduction {
  public:
    static constexpr std::size_t most_steps = 4096;

    /// The number of known edges.
    [[nodiscard]] std::size_t size() const noexcept { return next_.size(); }
    /// Takes all edges of a graph of `nodes` nodes, the known ones first. Returns for each new edge, in order, whether
    /// it is implied. If it throws, no edges are known.
    [[nodiscard]] std::vector<bool> add(std::size_t nodes, const std::vector<EdgeRecord>& edges);
    void clear() noexcept;

  private:
    void link(const std::vector<EdgeRecord>& edges);
    [[nodiscard]] bool find_ancestors(const std::vector<EdgeRecord>& edges, std::uint32_t node);
    template <class Use>
    void for_each_before(const std::vector<EdgeRecord>& edges, std::uint32_t node, const Use& use) const;

    std::vector<std::uint32_t> latest_;  ///< by node: its latest incoming edge
    std::vector<std::uint32_t> next_;    ///< by edge: the previous edge to the same node
    std::vector<std::uint32_t> turn_of_; ///< by node: the last turn that found it
    std::uint32_t turn_ = 0;
    bool are_forward_ = true;
    std::vector<std::uint32_t> open_; ///< nodes found in this turn, with predecessors not yet visited
};

} // namespace cudag::detail
