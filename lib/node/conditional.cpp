// Conditional nodes: nodes with bodies that run on a condition.
#include "conditional.hpp"

#include "comparison.hpp"
#include "cuda/compat.hpp"

#include <fmt/format.h>

namespace cudag::detail {

std::string_view to_string(ConditionalKind kind) noexcept {
    switch (kind) {
    case ConditionalKind::if_:
        return "if";
    case ConditionalKind::while_:
        return "while";
    case ConditionalKind::switch_:
        return "switch";
    }
    return "conditional";
}

std::string role_of_body(ConditionalKind kind, std::size_t number) {
    switch (kind) {
    case ConditionalKind::if_:
        return number == 0 ? "then" : "else";
    case ConditionalKind::while_:
        return "body";
    default:
        return fmt::format("case {}", number);
    }
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const ConditionalParams& conditional,
                        const cudaGraph_t*& bodies) {
    cudaGraphNodeParams native{};
    native.type = cudaGraphNodeTypeConditional;
    native.conditional.handle = conditional.condition;
    native.conditional.type = static_cast<cudaGraphConditionalNodeType>(conditional.kind);
    native.conditional.size = conditional.bodies;
    const cudaError_t status = compat::graph_add_node(&node, graph, &native);
    bodies = native.conditional.phGraph_out;
    return {status, "cudaGraphAddNode"};
}

void ConditionField::compare(const ConditionalParams& before, const ConditionalParams& after, Differences& found) {
    const SameConditions& conditions = found.conditions();
    if (conditions.for_update())
        found.compare("number of its condition, in the order in which they were made", before.condition,
                      after.condition, fixed());
    if (conditions.compares_initial())
        found.compare("initial value", conditions.initial_before(before.condition),
                      conditions.initial_after(after.condition), {ChangedBy::graph_update});
}

std::string title(const ConditionalParams& conditional) {
    return std::string(to_string(conditional.kind));
}

} // namespace cudag::detail
