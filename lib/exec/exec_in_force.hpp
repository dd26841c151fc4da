// The effective parameters and accesses of the nodes of an exec.
#pragma once

#include "exec_declarations.hpp"
#include "exec_nodes.hpp"
#include "graph/in_force.hpp"

#include <cstdint>

namespace cudag::detail {

/// The effective state of nodes in an exec.
class ExecInForce final : public InForce {
  public:
    explicit ExecInForce(const ExecState& exec) noexcept : exec_(exec) {}

    [[nodiscard]] const NodeParams& params(const NodePlace& node) const override { return exec_.effective().of(node); }
    void for_each_declared(const NodePlace& node, const AccessVisitor& visit) const override {
        detail::for_each_declared(exec_, node, visit);
    }
    [[nodiscard]] std::uint32_t region(const NodePlace& node) const override {
        return exec_.effective().in_basis(*node.graph).records().units().of(node.index);
    }
    [[nodiscard]] std::uint64_t declared_version(const GraphState& graph) const override {
        return exec_.effective().in_basis(graph).records().declared_version();
    }

  private:
    const ExecState& exec_;
};

} // namespace cudag::detail
