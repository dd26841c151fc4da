// Which of a node's possible predecessors paths lead from.
#pragma once

#include "edge_groups.hpp"
#include "reach.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// Answers from which of some nodes paths lead to another one, where most are near, or far along a line.
///
/// Two trees take constant time for what they know: in one each node stands below its latest predecessor, and what is
/// above a node comes before it; by the other one, each node comes before its earliest successor. They know all of
/// lines, and of branches that fork and join. What they do not know is looked for along a few edges, and then by Reach.
/// Making it takes as long as there are nodes and edges.
class Precedence {
  public:
    /// `order` is one that the edges keep, and `place` says for each node where it stands there. They and the edges
    /// must outlive this.
    Precedence(const std::vector<EdgeRecord>& edges, const std::vector<std::uint32_t>& order,
               const std::vector<std::uint32_t>& place);

    /// Of `nodes`, each there once and with an earlier place than `node`, leaves those from which no path leads to it.
    void remove_ordered(std::uint32_t node, std::vector<std::uint32_t>& nodes);

    /// Whether the trees know a path from `first` to `second`.
    [[nodiscard]] bool is_known(std::uint32_t first, std::uint32_t second) const;
    /// The one with the latest place of those from which an edge leads to `node`; the highest number if there is none.
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
    std::vector<std::uint32_t> below_; ///< by node: how many numbers from its own on are those below it and its own

    std::optional<EdgeGroups> incoming_;
    std::uint32_t turn_ = 0;              ///< of looking back
    std::vector<std::uint32_t> asked_in_; ///< by node: in which turn it is asked for, until a path is found
    std::vector<std::uint32_t> seen_in_;  ///< by node: the last turn that came by
    std::vector<std::uint32_t> open_;
    std::optional<Reach> reach_;
    std::vector<Reach::Target> targets_;
};

} // namespace cudag::detail
