// Precedence between nodes: whether paths lead from candidates to a node.
#pragma once

#include "edge_groups.hpp"
#include "reach.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// Finds the nodes of a set from which paths lead to another node. Fast if most are close, or far back on a line.
///
/// Two trees answer in constant time. In one, each node stands below its latest predecessor, and all nodes above a node
/// precede it; in the other, each node precedes its earliest successor. They know all of lines, and of branches that
/// fork and join. For other paths a search follows a few edges, then asks Reach. Construction takes nodes + edges.
class Precedence {
  public:
    /// `order` respects the edges; `place` gives the position of each node in it. Both and the edges must outlive this
    /// object.
    Precedence(const std::vector<EdgeRecord>& edges, const std::vector<std::uint32_t>& order,
               const std::vector<std::uint32_t>& place);

    /// Removes from `nodes` every node with a path to `node`. `nodes` are unique, with earlier places than `node`.
    void remove_ordered(std::uint32_t node, std::vector<std::uint32_t>& nodes);

    /// Whether the trees know a path from `first` to `second`.
    [[nodiscard]] bool is_known(std::uint32_t first, std::uint32_t second) const;
    /// The direct predecessor of `node` with the latest place; the highest number if there is none.
    [[nodiscard]] std::uint32_t latest_predecessor(std::uint32_t node) const { return predecessor_[node]; }

  private:
    void make_trees();
    [[nodiscard]] bool is_below(std::uint32_t node, std::uint32_t other) const {
        return number_[node] - number_[other] < below_[other];
    }
    bool look_back(std::uint32_t node, std::vector<std::uint32_t>& nodes);
    void search(std::uint32_t node, std::vector<std::uint32_t>& nodes);

    const std::vector<EdgeRecord>& edges_;
    const std::vector<std::uint32_t>& order_;
    const std::vector<std::uint32_t>& place_;
    std::vector<std::uint32_t> predecessor_; ///< by node: the latest
    std::vector<std::uint32_t> successor_;   ///< by node: the earliest
    std::vector<std::uint32_t> number_;      ///< by node, from the top of the tree of latest predecessors
    std::vector<std::uint32_t> below_;       ///< by node: the size of its subtree, whose numbers begin at its own

    std::optional<EdgeGroups> incoming_;
    std::uint32_t turn_ = 0;              ///< the current look back
    std::vector<std::uint32_t> asked_in_; ///< by node: the turn of a request for it, until a path is found
    std::vector<std::uint32_t> seen_in_;  ///< by node: the last turn that visited it
    std::vector<std::uint32_t> open_;
    std::optional<Reach> reach_;
    std::vector<Reach::Target> targets_;
};

} // namespace cudag::detail
