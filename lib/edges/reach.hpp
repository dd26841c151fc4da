// Reachability between the nodes of a graph.
#pragma once

#include "edge_groups.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace cudag::detail {

/// Finds the nodes reachable from one node of an acyclic graph, along its edges or against them.
///
/// The constructor makes a depth-first forest in nodes + edges time. A search reaches all nodes below its start at
/// once, and other nodes through the edges outside the forest; at worst it visits all such edges on paths to its
/// targets. Lines and branches that fork and join have few of them, so a search takes logarithmic time for each target.
class Reach {
  public:
    enum class Along { edges, against };

    struct Target {
        std::uint32_t node;
        bool reached = false;
    };

    /// `place` gives the position of each node in an order respected by all edges.
    Reach(const std::vector<EdgeRecord>& edges, const std::vector<std::uint32_t>& place, Along along);

    /// Marks the targets reachable from `start`, and reorders them. `start` is not a target.
    void search(std::uint32_t start, std::vector<Target>& targets);

  private:
    void number(std::size_t nodes, const std::vector<EdgeRecord>& edges, const EdgeGroups& outgoing);
    /// Whether an earlier step has visited the subtree of the node.
    [[nodiscard]] bool is_seen(std::uint32_t node) const;
    /// Follows the edges out of the subtree of `node`, except those already followed.
    void leave(std::uint32_t node, std::uint32_t last);
    void follow(std::uint32_t first, std::uint32_t end, std::uint32_t last);

    std::uint32_t EdgeRecord::*from_;
    std::uint32_t EdgeRecord::*to_;
    std::vector<std::uint32_t> place_;  ///< in this direction
    std::vector<std::uint32_t> number_; ///< by node: its number in the order of the forest
    std::vector<std::uint32_t> end_;    ///< by node: the end of the numbers of its subtree, which begin at its own
    std::vector<std::uint32_t> first_;  ///< by number: the start of the node's edges outside the forest in `others_`
    std::vector<std::uint32_t> others_; ///< the targets of these edges
    std::map<std::uint32_t, std::uint32_t> seen_; ///< numbers, of one search
    std::vector<std::uint32_t> waiting_;
};

} // namespace cudag::detail
