// The nodes of an exec: functions on the shortest way of an update.
#pragma once

#include "exec_state.hpp"
#include "graph/graph_state.hpp"

#include <cstdint>
#include <utility>

namespace cudag::detail {

/// The number of a node in its root.
[[nodiscard]] inline std::uint32_t number_in_root(const NodePlace& node) noexcept {
    return node.graph->tree().first_number() + node.index;
}

NodePlace ExecState::node_of(const Node& node) const {
    const GraphState& graph = GraphIdentity::of(node);
    if (&graph != source_.get() && &graph.root() != source_.get()) [[unlikely]]
        return copy_of(graph, node);
    return {&graph, GraphIdentity::index_unchecked(node)};
}

const GraphState& EffectiveParams::in_basis(const GraphState& graph) const {
    return graph.tree().parent() == nullptr ? *basis_ : inside_basis(graph);
}

Shadow& EffectiveParams::shadow(const NodePlace& node) {
    const std::uint32_t number = number_in_root(node);
    if (Shadow* const found = shadows_->find(number)) [[likely]]
        return *found;
    return make_shadow(number, node);
}

Shadow* EffectiveParams::find_shadow(const NodePlace& node) noexcept {
    return shadows_->find(number_in_root(node));
}

const Shadow* EffectiveParams::find_shadow(const NodePlace& node) const noexcept {
    return std::as_const(*shadows_).find(number_in_root(node));
}

/// Whether this exec refuses updates that make a race.
[[nodiscard]] inline bool refuses_races(const ExecState& exec) noexcept {
    return refuses_races(exec.source());
}

} // namespace cudag::detail
