// Accesses declared by the nodes of an exec.
#include "exec_declarations.hpp"

#include "graph/in_force.hpp"
#include "order/node_accesses.hpp"

namespace cudag::detail {

std::vector<ArgumentAccess> all_declared(const ExecState& exec, const NodePlace& node) {
    std::vector<ArgumentAccess> accesses;
    for_each_declared(exec, node, [&](const ArgumentAccess& access) { accesses.push_back(access); });
    return accesses;
}

bool declares(const ExecState& exec, const NodePlace& node, std::span<const ArgumentAccess> accesses) {
    auto other = accesses.begin();
    bool same = true;
    for_each_declared(exec, node, [&](const ArgumentAccess& access) {
        same = same && other != accesses.end() && *other++ == access;
    });
    return same && other == accesses.end();
}

bool declares_as(const ExecState& exec, const NodePlace& node, const GraphState& graph, std::uint32_t index,
                 std::vector<ArgumentAccess>& buffer) {
    buffer.clear();
    for_each_declared(graph, index, [&](const ArgumentAccess& access) { buffer.push_back(access); });
    return declares(exec, node, buffer);
}

bool changes_accesses(const ExecState& exec, const NodePlace& node, const NodeParams& next,
                      std::span<const ArgumentAccess> declared) {
    return !have_same_accesses(*node.graph, exec.effective().of(node), next) || !declares(exec, node, declared);
}

} // namespace cudag::detail
