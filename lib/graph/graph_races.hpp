// Races that updates of a graph would make.
#pragma once

#include "graph_state.hpp"
#include "race_watch.hpp"

#include <vector>

namespace cudag::detail {

/// Of a root: what its nodes have in force, watched.
class GraphRaces final : public NodesInForce {
  public:
    [[nodiscard]] const NodeParams& params(const NodePlace& node) const override {
        return node.graph->params(node.index);
    }
    [[nodiscard]] std::vector<ArgumentAccess> declared(const NodePlace& node) const override {
        return node.graph->declared(node.index);
    }
    [[nodiscard]] RaceWatch& watch() noexcept { return watch_; }

  private:
    RaceWatch watch_{*this};
};

} // namespace cudag::detail
