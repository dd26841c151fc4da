// The state behind GraphBuilder and Graph.
#include "graph_state.hpp"

#include "cuda/relaxed_capture.hpp"
#include "names.hpp"
#include "node/rules.hpp"
#include "owners/reclaim.hpp"
#include "planning.hpp"
#include "read_nodes.hpp"

#include <cudag/format.hpp>

#include <algorithm>
#include <utility>

namespace cudag::detail {

GraphState::GraphState(cudaGraph_t native) : tree_(*this), records_(*this), native_(native) {
    identity_.begin(*this);
}

GraphState::GraphState(cudaGraph_t native, std::unique_ptr<Unread> unread, const SourceLocation& made_at)
    : tree_(*this), records_(*this, std::move(unread)), native_(native), construction_{true, made_at} {
    construction_.options.races = Races::allowed; // whoever captured it may ask for them by races()
    identity_.begin(*this);
}

GraphState::~GraphState() {
    invalidate_handles();
    if (owns_native_) report_release(cudaGraphDestroy(native_), "cudaGraphDestroy");
    if (may_have_owners(*this)) {
        const RelaxedCapture allow_free; // no capture needs them
        forget_nested(0);                // after CUDA's graph: owners may be the code of its kernels
        drop_owners(*this);
    }
    reclaim();
}

void refuse_other_graph(const GraphState& graph, const Node& node, std::string_view action) {
    const GraphState& owner = GraphIdentity::of(node);
    const Subject subject = node_subject(owner, GraphIdentity::index_unchecked(node), fmt::format("{}: ", action));
    if (&owner.root() != &graph.root())
        refuse("the node belongs to another graph: " + describe_foreign(graph, node), subject);
    refuse(fmt::format("the node is in {}, and is used in {}; a graph and what is inside its nodes do not share nodes "
                       "or edges",
                       describe_place(owner), describe_place(graph)),
           subject);
}

void require_root(const GraphState& graph, std::string_view action) {
    const GraphState* const parent = graph.tree().parent();
    if (parent == nullptr) return;
    const std::uint32_t index = graph.tree().parent_node();
    const NodeRecord& node = parent->records().nodes()[index];
    refuse(fmt::format("{}: the graph is inside {}, and no longer stands alone; use the graph around it", action,
                       describe_node(*parent, index)),
           {{}, {std::string(node.label)}, node.location});
}

const std::shared_ptr<GraphState>* find_nested(const GraphState& graph, std::uint32_t index, std::size_t number) {
    const auto inside = graph.nested_in(index);
    return number < inside.size() ? &inside[number] : nullptr;
}

void read_all(const GraphState& graph) {
    graph.records().read_edges();
    for (const auto& inner : graph.nested())
        read_all(*inner);
}

void GraphState::number_nodes() noexcept {
    if (records_.has_known_nodes()) tree_.number_all();
}

void GraphState::number_read_nodes() noexcept {
    if (tree_.parent() == nullptr) tree_.number_all();
}

void GraphState::attach(std::shared_ptr<GraphState> inner, std::uint32_t index, Place place, int device) noexcept {
    inner->owns_native_ = false;
    inner->edges_.unplan();
    changes().take(inner->changes_);
    tree_.add(std::move(inner), index, place, device);
}

void GraphState::reserve_nested(const GraphState& graph) {
    reserve_nested(1);
    changes().reserve(graph.changes_.size());
}

void GraphState::remove_last() noexcept {
    const cudaGraphNode_t native = records_.natives().back();
    forget_nested(static_cast<std::uint32_t>(records_.known_nodes() - 1));
    if (!construction_.destroyed_by &&
        !construction_.is_captured_into) { // else the node has gone, or will go, with others
        const cudaError_t status = cudaGraphDestroyNode(native);
        ignore(status);
        if (status != cudaSuccess) root().construction_.has_unwanted_nodes = true;
    }
    records_.forget_last();
}

void GraphState::forget_from(std::uint32_t first) noexcept {
    if (first == records_.known_nodes()) return;
    if (!identity_.is_orphan()) root().conditions_.leave_from(*this, first);
    forget_nested(first);
    records_.forget_from(first);
    edges_.forget_nodes(first);
}

void GraphState::forget_nested(std::uint32_t first) noexcept {
    while (const std::shared_ptr<GraphState> graph = tree_.take_last(first)) {
        if (!identity_.is_orphan()) // else the whole graph goes
            changes().forget([&](const GraphState& changed) { return &changed.root() == graph.get(); });
        graph->invalidate_handles();
        drop_owners(*graph);
    }
}

void GraphState::invalidate_handles() noexcept {
    if (identity_.is_orphan()) return;
    identity_.end();
    for (const auto& graph : tree_.nested()) {
        graph->invalidate_handles();
        graph->tree_.leave();
    }
}

void GraphState::set_destroyed_by(const SourceLocation& where) noexcept {
    construction_.destroyed_by = where;
    for (const auto& graph : tree_.nested())
        graph->set_destroyed_by(where);
    owns_native_ = false;
    invalidate_handles();
}

Node GraphState::append(cudaGraphNode_t native, NodeRecord&& record, CallEffects&& effects) noexcept {
    const std::uint32_t index = records_.append(native, std::move(record), construction_.device);
    if (!effects.empty()) [[unlikely]] {
        records_.add_effects(index, effects);
        for (Owner& owner : effects.owners)
            owners_.add(std::move(owner.object), index);
    }
    return identity_.handle(index);
}

void GraphState::append(ReadNodes&& nodes) {
    edges_.reserve_native(nodes.edges.size());
    tree_.reserve(nodes.nested.size());
    Conditions& conditions = root().conditions_;
    std::size_t read = nodes.conditions.size();
    for (const ReadNodes::Inner& inner : nodes.nested)
        read += inner.graph->conditions_.all().size();
    conditions.reserve_read(read);
    records_.append(std::move(nodes));
    edges_.add_native(nodes.edges);
    for (ConditionRecord& condition : nodes.conditions) {
        condition.user = this;
        conditions.add_read(condition);
    }
    for (ReadNodes::Inner& inner : nodes.nested) {
        conditions.add_read(inner.graph->conditions_);
        attach(std::move(inner.graph), inner.node, inner.place, inner.device);
    }
}

void GraphState::complete_native(const Plan* plan) {
    for (const auto& graph : tree_.nested())
        graph->complete_native(plan);
    owners_.bundle();
    if (is_borrowed()) give_owners_to_native(*this);
    const Plan& next = plan == nullptr ? edges_.plan().plan : *plan;
    if (!edges_.follow(next)) follow_plan(*this, next);
}

} // namespace cudag::detail
