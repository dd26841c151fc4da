// Which nodes of a graph come after which others.
#pragma once

#include "edge_groups.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace cudag::detail {

/// Answers which nodes can be reached from one node along the edges of a graph without cycles, or against them.
///
/// A depth-first forest of the graph is made once: what stands below a node in it is reached at once, and what lies
/// elsewhere by way of the edges that are not in the forest. Making it takes as long as there are nodes and edges; a
/// search visits at worst all edges outside the forest that can lead to its targets. In lines, and in branches that
/// fork and join, those are few, and a search takes logarithmic time for each target.
class Reach {
  public:
    enum class Along { edges, against };

    struct Target {
        std::uint32_t node;
        bool reached = false;
    };

    /// `place` says for each node where it stands in an order that all edges keep.
    Reach(const std::vector<EdgeRecord>& edges, const std::vector<std::uint32_t>& place, Along along);

    /// Notes which targets there are paths to from `start`, which is none of them; their order changes.
    void search(std::uint32_t start, std::vector<Target>& targets);

  private:
    void number(std::size_t nodes, const std::vector<EdgeRecord>& edges, const EdgeGroups& outgoing);
    /// Whether an earlier step has seen what stands below the node.
    [[nodiscard]] bool is_seen(std::uint32_t node) const;
    /// Follows the edges that leave the part of the forest below `node`, where they have not been followed yet.
    void leave(std::uint32_t node, std::uint32_t last);
    void follow(std::uint32_t first, std::uint32_t end, std::uint32_t last);

    std::uint32_t EdgeRecord::*from_;
    std::uint32_t EdgeRecord::*to_;
    std::vector<std::uint32_t> place_;  ///< in this direction
    std::vector<std::uint32_t> number_; ///< of each node, in the order of the forest
    std::vector<std::uint32_t> end_;    ///< what stands below a node has the numbers between its own and this
    std::vector<std::uint32_t> first_;  ///< by number: where the node's edges outside the forest begin in `others_`
    std::vector<std::uint32_t> others_; ///< the nodes that they lead to
    std::map<std::uint32_t, std::uint32_t> seen_; ///< numbers, of one search
    std::vector<std::uint32_t> waiting_;
};

} // namespace cudag::detail
