// The order of the runs of a launch: awaited runs, the critical path, and lanes.
#pragma once

#include <cudag/profile.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace cudag::detail {

/// The index after the last node inside each node; `nodes` has each node before those inside it.
[[nodiscard]] std::vector<std::size_t> ends_of(std::span<const NodeProfile> nodes);

/// The predecessors of the runs of one launch.
class RunOrder {
  public:
    /// `before`: the direct predecessors of each node. `runs` are in the order of their begin, of nodes without others
    /// inside. The arguments must outlive this object.
    RunOrder(std::span<const NodeProfile> nodes, const std::vector<std::vector<std::size_t>>& before,
             std::span<const NodeRun> runs);

    /// Returns the awaited run of `run`: among the runs before it by edges, the last one to end. Edges lead
    /// through nodes without runs, out of inner graphs and into them, and from one turn of a loop to the next. Nothing
    /// for a first run.
    [[nodiscard]] std::optional<std::size_t> awaited(std::size_t run);
    /// Returns the last run of `node`, or of the nodes inside it, that began before `run`. If there are several nodes
    /// inside, the run that ended last. Nothing if the node has no such run.
    [[nodiscard]] std::optional<std::size_t> latest(std::size_t node, std::size_t run) const;
    /// Whether `node`, or a node inside it, has a run.
    [[nodiscard]] bool has_run(std::size_t node) const;

    /// Returns the last run to end, and before each run the awaited one, from the first to the last.
    [[nodiscard]] std::vector<std::size_t> critical_path();
    /// Returns the lane of each run: that of the awaited run if it is free, otherwise the first free one.
    [[nodiscard]] std::vector<std::size_t> lanes();

  private:
    void consider(std::optional<std::size_t> candidate, std::optional<std::size_t>& best) const;
    [[nodiscard]] bool mark(std::size_t node);
    /// Returns the last run to end in the turn of `loop` before that of `run`; nothing in the first turn.
    [[nodiscard]] std::optional<std::size_t> in_last_turn(std::size_t loop, std::size_t run) const;

    std::span<const NodeProfile> nodes_;
    const std::vector<std::vector<std::size_t>>& before_;
    std::span<const NodeRun> runs_;
    std::vector<std::size_t> ends_;
    std::vector<std::vector<std::size_t>> runs_of_; ///< by node, ascending
    std::vector<std::size_t> runs_up_to_;           ///< by node: the number of runs of all nodes before it
    std::vector<std::size_t> ranks_;                ///< by run: its place among the runs of its node
    std::vector<std::size_t> marks_;                ///< by node: the number of the search that met it
    std::size_t search_ = 0;
};

} // namespace cudag::detail
