// Races caused by updates of a graph.
#pragma once

#include "graph/graph_locks.hpp"
#include "graph/graph_memos.hpp"
#include "graph/in_force.hpp"
#include "lists/assertion.hpp"
#include "race_watch.hpp"

namespace cudag::detail {

class GraphState;

struct GraphRaceWatch final : GraphMemo {
    RaceWatch watch{graph_in_force};
};

/// The race watch of `root`, made on first use. Call under the lock of `root`.
[[nodiscard]] inline RaceWatch& race_watch_of(GraphState& root) {
    CUDAG_ASSERT(is_locked(root));
    return memos_of(root).of<GraphRaceWatch>().watch;
}

} // namespace cudag::detail
