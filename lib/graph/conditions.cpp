// Conditions: making them, checking their use, and reusing those of failed bodies.
#include "conditions.hpp"

#include "construction.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/numbered_contexts.hpp"
#include "graph_identity.hpp"
#include "graph_tree.hpp"
#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "lists/renumbering.hpp"
#include "names.hpp"
#include "native_graph.hpp"
#include "node/function.hpp"

#include <cudag/detail/argument.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/format.hpp>

#include <algorithm>

namespace cudag::detail {

namespace {

bool precedes(const ConditionRecord& condition, cudaGraphConditionalHandle handle) noexcept {
    return condition.handle < handle;
}

/// Finds a record in `all`, a const or mutable list; null if there is none.
template <class List>
auto* find_in(List& all, cudaGraphConditionalHandle handle) noexcept {
    const auto found = std::lower_bound(all.begin(), all.end(), handle, precedes);
    return found == all.end() || found->handle != handle ? nullptr : &*found;
}

} // namespace

ConditionRecord* Conditions::find(cudaGraphConditionalHandle handle) noexcept {
    return find_in(all_, handle);
}
const ConditionRecord* Conditions::find(cudaGraphConditionalHandle handle) const noexcept {
    return find_in(all_, handle);
}

void Conditions::reserve(std::optional<unsigned> initial, int device) {
    reserve_more(all_, 1);
    reserve_more(asked_for_, all_.size() + 1 - asked_for_.size());
    Alike& alike = alike_[{initial, device}];
    reserve_more(alike.abandoned, alike.count + 1 - alike.abandoned.size());
}

void Conditions::add(const ConditionRecord& condition) noexcept {
    // This appends, because CUDA's handles ascend, and stays correct for handles in any other order.
    all_.insert(std::lower_bound(all_.begin(), all_.end(), condition.handle, precedes), condition);
    asked_for_.push_back(condition.handle);
    ++alike_.find({condition.initial, condition.device})->second.count;
}

ConditionRecord* Conditions::take_abandoned(std::optional<unsigned> initial, int device) noexcept {
    const auto alike = alike_.find({initial, device});
    if (alike == alike_.end() || alike->second.abandoned.empty()) return nullptr;
    ConditionRecord* condition = find(alike->second.abandoned.back());
    alike->second.abandoned.pop_back();
    condition->abandoned = condition->left = false;
    asked_for_.push_back(condition->handle);
    return condition;
}

void Conditions::abandon_from(std::size_t count) noexcept {
    for (; asked_for_.size() > count; asked_for_.pop_back()) {
        ConditionRecord& condition = *find(asked_for_.back());
        condition.abandoned = true;
        alike_.find({condition.initial, condition.device})->second.abandoned.push_back(condition.handle);
    }
}

void Conditions::reserve_read(std::size_t more) {
    reserve_more(all_, more);
}

void Conditions::add_read(const ConditionRecord& condition) noexcept {
    const auto place = std::lower_bound(all_.begin(), all_.end(), condition.handle, precedes);
    if (place == all_.end() || place->handle != condition.handle) {
        CUDAG_ASSERT(has_room(all_));
        all_.insert(place, condition);
    } else if (place->user == nullptr) {
        place->user = condition.user;
        place->node = condition.node;
    }
}

void Conditions::add_read(const Conditions& inner) noexcept {
    for (const ConditionRecord& condition : inner.all_)
        add_read(condition);
}

void Conditions::leave_from(const GraphState& graph, std::uint32_t first) noexcept {
    for (ConditionRecord& condition : all_) {
        const GraphState* user = condition.user;
        std::uint32_t node = condition.node;
        while (user != nullptr && user != &graph) {
            node = tree_of(*user).parent_node();
            user = tree_of(*user).parent();
        }
        if (user != &graph || node < first) continue;
        condition.user = nullptr;
        condition.left = true;
    }
}

void Conditions::renumber(const GraphState& graph, const Renumbering& next) noexcept {
    for (ConditionRecord& condition : all_) {
        if (condition.user == nullptr) continue;
        if (condition.user == &graph && next.keeps(condition.node)) {
            condition.node = next(condition.node);
        } else if (condition.user == &graph || &root_of(*condition.user) != &root_of(graph)) {
            condition.user = nullptr;
            condition.left = true;
        }
    }
}

int place_here(const GraphState& graph) {
    int device = construction_of(graph).device;
    if (!is_context_number(device)) checked<GraphError>(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

Condition make_condition(GraphState& graph, std::optional<unsigned> initial, const SourceLocation& where) {
    if (construction_of(graph).is_built || identity_of(graph).is_orphan())
        refuse(fmt::format("condition at {}: the graph, or the body, is finished; make the condition before", where),
               {{}, {}, where});
    GraphState& root = root_of(graph);
    Conditions& conditions = conditions_of(root);
    const int device = place_here(graph);
    bind_context(); // CUDA makes no condition on a thread without one
    conditions.reserve(initial, device);
    if (ConditionRecord* abandoned = conditions.take_abandoned(initial, device); abandoned != nullptr) {
        abandoned->location = where;
        return identity_of(root).condition_value(abandoned->handle);
    }
    ConditionRecord made{0, initial, device, where};
    const cudaError_t status = cudaGraphConditionalHandleCreate(&made.handle, native_of(root), initial.value_or(0),
                                                                initial ? cudaGraphCondAssignDefault : 0);
    if (status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphConditionalHandleCreate",
                               {fmt::format("condition at {}", where), {}, where});
    conditions.add(made);
    return identity_of(root).condition_value(made.handle);
}

void require_condition(const Condition& condition, const ArgumentSite& site) {
    const CallSite& call = site.call;
    const GraphState* graph = call.node != nullptr ? &GraphIdentity::of(*call.node) : call.graph;
    if (graph == nullptr) return;
    const GraphState& root = GraphIdentity::of(condition);
    const bool own = &root == &root_of(*graph);
    const ConditionRecord* record = own ? conditions_of(root).find(condition.native()) : nullptr;
    if (record != nullptr && !record->abandoned) return;
    const std::string reason =
        fmt::format("argument {}: the condition {}", site.position,
                    own ? std::string("was made in a body that has thrown; make another one")
                        : fmt::format("belongs to another graph, to {}; a kernel sets those of its own, {}",
                                      describe_graph(root), describe_graph(*graph)));
    if (call.node != nullptr)
        refuse<UpdateError>(reason, node_subject(*graph, GraphIdentity::index_unchecked(*call.node), "update of "));
    refuse(reason, {fmt::format("kernel {} at {}", kernel_name(call), call.location), {}, call.location});
}

} // namespace cudag::detail
