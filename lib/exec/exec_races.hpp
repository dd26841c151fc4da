// Races that updates of an exec would make.
#pragma once

#include "exec_declarations.hpp"
#include "exec_state.hpp"
#include "order/race_watch.hpp"

#include <vector>

namespace cudag::detail {

/// What the nodes of an exec have in force.
class ExecNodes final : public NodesInForce {
  public:
    explicit ExecNodes(const ExecState& exec) noexcept : exec_(exec) {}

    [[nodiscard]] const NodeParams& params(const NodePlace& node) const override { return exec_.params(node); }
    [[nodiscard]] std::vector<ArgumentAccess> declared(const NodePlace& node) const override {
        return all_declared(exec_, node);
    }
    [[nodiscard]] std::uint32_t region(const NodePlace& node) const override {
        return exec_.in_basis(*node.graph).units().of(node.index);
    }
    [[nodiscard]] std::uint64_t declared_version(const GraphState& graph) const override {
        return exec_.in_basis(graph).declared_version();
    }

  private:
    const ExecState& exec_;
};

/// The same, watched.
class ExecRaces {
  public:
    explicit ExecRaces(const ExecState& exec) noexcept : nodes_(exec) {}

    [[nodiscard]] RaceWatch& watch() noexcept { return watch_; }

  private:
    ExecNodes nodes_;
    RaceWatch watch_{nodes_};
};

} // namespace cudag::detail
