// Effective declared accesses of the nodes of an exec.
#pragma once

#include "exec_nodes.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Calls `visit(access)` for each access declared by the node. Holds a lock meanwhile: `visit` asks no other node.
template <class Visit>
void for_each_declared(const ExecState& exec, const NodePlace& node, const Visit& visit) {
    if (const Shadow* const shadow = exec.effective().find_shadow(node); shadow != nullptr && shadow->declared) {
        for (const ArgumentAccess& access : *shadow->declared)
            visit(access);
        return;
    }
    const DeclaredAccesses& as_made = exec.effective().in_basis(*node.graph).records().initial_accesses();
    if (as_made.empty()) return;
    const auto lock = as_made.lock(); // another thread may declare more, without the graph's lock
    as_made.for_each(node.index, visit);
}
[[nodiscard]] std::vector<ArgumentAccess> all_declared(const ExecState& exec, const NodePlace& node);

/// Whether the node declares exactly these accesses.
[[nodiscard]] bool declares(const ExecState& exec, const NodePlace& node, std::span<const ArgumentAccess> accesses);

/// Whether the node declares the same as node `index` of `graph`. Call under its lock. `buffer` spares an allocation.
[[nodiscard]] bool declares_as(const ExecState& exec, const NodePlace& node, const GraphState& graph,
                               std::uint32_t index, std::vector<ArgumentAccess>& buffer);

/// Whether a node with this shadow may declare accesses.
[[nodiscard]] inline bool may_declare(const ExecState& exec, const NodePlace& node, const Shadow& shadow) {
    return shadow.declared ? !shadow.declared->empty()
                           : !exec.effective().in_basis(*node.graph).records().initial_accesses().empty();
}

/// Whether `next` and `declared` would change the node's accesses.
[[nodiscard]] bool changes_accesses(const ExecState& exec, const NodePlace& node, const NodeParams& next,
                                    std::span<const ArgumentAccess> declared);

} // namespace cudag::detail
