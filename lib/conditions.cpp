// Conditions: made, checked where they are used, and left over when a body throws.
#include "conditions.hpp"

#include "failure.hpp"
#include "graph_state.hpp"
#include "kernel_name.hpp"

#include <cudag/detail/argument.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/format.hpp>

#include <algorithm>

namespace cudag::detail {

ConditionRecord* Conditions::find(cudaGraphConditionalHandle handle) noexcept {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const ConditionRecord& c) { return c.handle == handle; });
    return found == all_.end() ? nullptr : &*found;
}

const ConditionRecord* Conditions::find_of_node(const GraphState& graph, std::uint32_t node) const noexcept {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const ConditionRecord& c) { return c.user == &graph && c.node == node; });
    return found == all_.end() ? nullptr : &*found;
}

std::optional<ConditionRecord> Conditions::take_left_over(std::optional<unsigned> initial, int device) noexcept {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const ConditionRecord& c) {
        return c.left_over && c.initial == initial && c.device == device;
    });
    if (found == all_.end()) return std::nullopt;
    const ConditionRecord condition = *found;
    all_.erase(found);
    return condition;
}

void Conditions::roll_back(std::size_t count, const GraphState& graph, std::uint32_t node) noexcept {
    const auto goes = [&](const ConditionRecord& condition) {
        std::uint32_t within = condition.node;
        for (const GraphState* user = condition.user; user != nullptr; user = user->parent()) {
            if (user == &graph) return within == node;
            within = user->parent_node();
        }
        return false;
    };
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (goes(all_[i])) all_[i].user = nullptr;
        if (i >= count) all_[i].left_over = true;
    }
}

Condition make_condition(GraphState& graph, std::optional<unsigned> initial, const SourceLocation& where) {
    if (graph.is_built() || graph.is_orphan())
        refuse(fmt::format("condition at {}: the graph, or the body, is finished; make the condition before", where),
               {{}, {}, where});
    GraphState& root = graph.root();
    Conditions& conditions = root.conditions();
    int device = 0;
    checked(cudaGetDevice(&device), "cudaGetDevice");
    bind_context(); // CUDA makes no condition on a thread without one
    conditions.reserve();
    ConditionRecord made{0, initial, device, where};
    if (const auto left_over = conditions.take_left_over(initial, device)) {
        made.handle = left_over->handle;
    } else {
        const cudaError_t status = cudaGraphConditionalHandleCreate(&made.handle, root.native(), initial.value_or(0),
                                                                    initial ? cudaGraphCondAssignDefault : 0);
        if (status != cudaSuccess)
            raise_call<GraphError>(status, "cudaGraphConditionalHandleCreate",
                                   {fmt::format("condition at {}", where), {}, where});
    }
    conditions.add(made);
    return root.condition_value(made.handle);
}

void require_condition(const Condition& condition, const ArgumentSite& site) {
    const CallSite& call = site.call;
    const GraphState* graph = call.node != nullptr ? &GraphState::of(*call.node) : call.graph;
    if (graph == nullptr || &GraphState::of(condition) == &graph->root()) return;
    const std::string reason = fmt::format(
        "argument {}: the condition belongs to another graph; a kernel sets those of its own", site.position);
    if (call.node != nullptr)
        refuse<UpdateError>(reason, node_subject(*graph, GraphState::index_unchecked(*call.node), "update of "));
    refuse(reason, {fmt::format("kernel {} at {}", kernel_name(call.symbol), call.location), {}, call.location});
}

} // namespace cudag::detail
