// Races that updates of a graph would make.
#pragma once

#include "declarations.hpp"
#include "graph/graph_state.hpp"
#include "race_watch.hpp"

#include <vector>

namespace cudag::detail {

/// Of a root: what its nodes have in force, watched.
class GraphRaces final : public GraphMemo, public NodesInForce {
  public:
    [[nodiscard]] const NodeParams& params(const NodePlace& node) const override {
        return node.graph->params(node.index);
    }
    [[nodiscard]] std::vector<ArgumentAccess> declared(const NodePlace& node) const override {
        return all_declared(*node.graph, node.index);
    }
    [[nodiscard]] std::uint32_t region(const NodePlace& node) const override {
        return node.graph->units().of(node.index);
    }
    [[nodiscard]] std::uint64_t declared_version(const GraphState& graph) const override {
        return graph.declared_version();
    }
    [[nodiscard]] RaceWatch& watch() noexcept { return watch_; }

  private:
    RaceWatch watch_{*this};
};

/// That of `root`, under its lock; made with the first use.
[[nodiscard]] inline RaceWatch& race_watch_of(GraphState& root) {
    return root.memos().of<GraphRaces>().watch();
}

} // namespace cudag::detail
