// Conditional nodes: nodes with bodies that run on a condition.
#include "conditional.hpp"

#include "comparison.hpp"
#include "cuda/compat.hpp"
#include "cuda/driver.hpp"

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

std::optional<ReadConditional> read_conditional(cudaGraphNode_t node) {
    CUgraphNodeParams native{};
    native.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    const CUresult result = driver().graph_node_get_params(node, &native);
    if (result == CUDA_ERROR_NOT_SUPPORTED) return std::nullopt;
    checked_driver<GraphError>(result, "cuGraphNodeGetParams");
    const CUDA_CONDITIONAL_NODE_PARAMS& read = native.conditional;
    const auto kind = static_cast<ConditionalKind>(read.type);
    if (kind > ConditionalKind::switch_) return std::nullopt; // of a newer CUDA
    return ReadConditional{{kind, read.handle, read.size},
                           reinterpret_cast<const cudaGraph_t*>(read.phGraph_out),
                           device_of_context(read.ctx)};
}

void ConditionField::compare(const ConditionalParams& before, const ConditionalParams& after, Differences& found) {
    const SameConditions& conditions = found.conditions();
    if (conditions.for_update())
        found.compare("number of its condition, in the order in which they were made", before.condition,
                      after.condition, fixed());
    if (!conditions.compares_initial()) return;
    const std::string initial_before = conditions.initial_before(before.condition);
    const std::string initial_after = conditions.initial_after(after.condition);
    if (!initial_before.empty() && !initial_after.empty())
        found.compare("initial value", initial_before, initial_after, {ChangedBy::graph_update});
}

std::string title(const ConditionalParams& conditional) {
    return std::string(to_string(conditional.kind));
}

} // namespace cudag::detail
