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

GraphState::GraphState(cudaGraph_t native) : native_(native) {
    begin(*this);
}

GraphState::GraphState(cudaGraph_t native, std::unique_ptr<Unread> unread, const SourceLocation& made_at)
    : GraphRecords(std::move(unread), *this), native_(native), construction_{true, made_at} {
    construction_.options.races = Races::allowed; // whoever captured it may ask for them by races()
    special_.read = true;
    begin(*this);
}

GraphState::~GraphState() {
    invalidate_handles();
    if (owns_native_) report_release(cudaGraphDestroy(native_), "cudaGraphDestroy");
    if (may_have_owners()) {
        const RelaxedCapture allow_free; // no capture needs them
        forget_nested(0);                // after CUDA's graph: owners may be the code of its kernels
        drop_owners();
    }
    reclaim();
}

std::uint32_t GraphState::refuse_foreign(const Node& node, std::string_view action) const {
    const GraphState& owner = of(node);
    const Subject subject = node_subject(owner, index_unchecked(node), fmt::format("{}: ", action));
    if (&owner.root() != &root())
        refuse("the node belongs to another graph: " + describe_foreign(*this, node), subject);
    refuse(fmt::format("the node is in {}, and is used in {}; a graph and what is inside its nodes do not share nodes "
                       "or edges",
                       describe_place(owner), describe_place(*this)),
           subject);
}

void GraphState::number_nodes() noexcept {
    if (has_known_nodes()) number_all();
}

void GraphState::number_read_nodes() noexcept {
    if (parent() == nullptr) number_all();
}

void GraphState::require_root(std::string_view action) const {
    if (parent() == nullptr) return;
    const NodeRecord& node = parent()->nodes()[parent_node()];
    refuse(fmt::format("{}: the graph is inside {}, and no longer stands alone; use the graph around it", action,
                       describe_node(*parent(), parent_node())),
           {{}, {std::string(node.label)}, node.location});
}

const std::shared_ptr<GraphState>* GraphState::find_nested(std::uint32_t index, std::size_t number) const {
    const auto inside = nested_in(index);
    return number < inside.size() ? &inside[number] : nullptr;
}

void GraphState::attach(std::shared_ptr<GraphState> inner, std::uint32_t index, Place place) noexcept {
    inner->owns_native_ = false;
    inner->edges_.unplan();
    root().changes_.take(inner->changes_);
    add_inner(std::move(inner), index, place);
}

void GraphState::reserve_nested(const GraphState& graph) {
    reserve_nested(1);
    root().changes_.reserve(graph.changes_.size());
}

void GraphState::remove_last() noexcept {
    const auto last = static_cast<std::uint32_t>(table().size() - 1);
    forget_nested(last);
    if (!construction_.destroyed_by &&
        !construction_.is_captured_into) { // else the node has gone, or will go, with others
        const cudaError_t status = cudaGraphDestroyNode(table().natives().back());
        ignore(status);
        if (status != cudaSuccess) root().construction_.has_unwanted_nodes = true;
    }
    table().forget_from(last);
}

void GraphState::forget_from(std::uint32_t first) noexcept {
    if (first == table().size()) return;
    forget_nested(first);
    table().forget_from(first);
    edges_.forget_nodes(first);
    allocations_.forget_nodes(first);
    initial_accesses().forget_from(first);
    units_.forget_from(first);
    look_for_joins();
}

void GraphState::look_for_joins() noexcept {
    special_.joins = special_.joins && std::ranges::any_of(table().records(), [](const NodeRecord& node) {
                         return node.kind == NodeKind::empty;
                     });
}

void GraphState::forget_nested(std::uint32_t first) noexcept {
    while (const std::shared_ptr<GraphState> graph = take_last_inner(first)) {
        if (!is_orphan()) // else the whole graph goes
            root().changes_.forget([&](const GraphState& changed) { return &changed.root() == graph.get(); });
        graph->invalidate_handles();
        graph->drop_owners();
    }
}

void GraphState::drop_owners() noexcept {
    for (const auto& graph : inner())
        graph->drop_owners();
    owners_.clear();
    bundles_.clear();
}

void GraphState::invalidate_handles() noexcept {
    if (is_orphan()) return;
    end();
    for (const auto& graph : inner()) {
        graph->invalidate_handles();
        graph->leave();
    }
}

void GraphState::set_destroyed_by(const SourceLocation& where) noexcept {
    construction_.destroyed_by = where;
    for (const auto& graph : inner())
        graph->set_destroyed_by(where);
    owns_native_ = false;
    invalidate_handles();
}

void GraphState::read_all() const {
    read_edges();
    for (const auto& graph : nested())
        graph->read_all();
}

Node GraphState::append(cudaGraphNode_t native, NodeRecord&& record, CallEffects&& effects) noexcept {
    const NodeKind kind = record.kind;
    table().add(native, std::move(record)).device = construction_.device;
    if (kind != NodeKind::kernel) {
        special_.memory = special_.memory || is_graph_memory(kind);
        special_.joins = special_.joins || kind == NodeKind::empty;
        special_.accesses = special_.accesses || has_memory_operands(kind);
    }
    const auto index = static_cast<std::uint32_t>(table().size() - 1);
    if (!effects.empty()) [[unlikely]]
        keep_effects(index, std::move(effects));
    return handle(index);
}

void GraphState::keep_effects(std::uint32_t index, CallEffects&& effects) noexcept {
    special_.owners = special_.owners || !effects.owners.empty();
    for (Owner& owner : effects.owners)
        owners_.add(std::move(owner.object), index);
    for (const ArgumentBinding& binding : effects.bindings)
        bindings_.add(binding.dynamic,
                      Binding{index, binding.argument, nullptr, 0, binding.mode, binding.element_bytes});
    if (effects.accesses.empty()) return;
    initial_accesses().add_reserved(index, effects.accesses);
    special_.accesses = true;
}

void GraphState::append(ReadNodes&& nodes) {
    edges_.reserve_native(nodes.edges.size());
    reserve_inner(nodes.nested.size());
    if (table().size() != 0) table().reserve(nodes.records.size());
    table().add(std::move(nodes.natives), std::move(nodes.records));
    edges_.add_native(nodes.edges);
    if (nodes.has_memory) allocations_ = GraphAllocations(std::move(nodes.allocations));
    for (ReadNodes::Inner& graph : nodes.nested)
        attach(std::move(graph.graph), graph.node, Place::child); // CUDA does not show bodies of conditionals
    special_.memory = special_.memory || nodes.has_memory;
    special_.joins = special_.joins || nodes.has_joins;
    special_.accesses = true;
    if (!special_.read) special_.read = true; // true for a captured graph, at which another thread may be looking
}

void GraphState::keep(std::vector<std::shared_ptr<const void>>&& owners, std::uint32_t node) {
    owners_.reserve(owners.size());
    special_.owners = special_.owners || !owners.empty();
    for (auto& owner : owners)
        owners_.add(std::move(owner), node);
}

void GraphState::bundle_owners() {
    reserve_more(bundles_, 1);
    bundles_.push_back(std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(owners_.objects())));
    owners_.clear();
}

void GraphState::list_owners(Owners& owners) {
    if (!owners_.empty()) bundle_owners();
    for (const auto& bundle : bundles_)
        owners.push_back({0, 0, bundle});
    for (const auto& graph : inner())
        graph->list_owners(owners);
}

void GraphState::give_owners_to_native() {
    for (const auto& graph : inner())
        graph->give_owners_to_native();
    if (given_bundles_ == bundles_.size()) return;
    given_.reserve();
    given_.add(
        keep_with_graph(native_, {bundles_.begin() + static_cast<std::ptrdiff_t>(given_bundles_), bundles_.end()}));
    given_bundles_ = bundles_.size();
}

void GraphState::take_owners_from_native() noexcept {
    given_.take_from(native_);
    for (const auto& graph : inner())
        graph->take_owners_from_native();
}

void GraphState::return_owners_to_native() noexcept {
    given_.return_to(native_);
    for (const auto& graph : inner())
        graph->return_owners_to_native();
}

void GraphState::complete_native(const Plan* plan) {
    for (const auto& graph : inner())
        graph->complete_native(plan);
    if (!owners_.empty()) bundle_owners();
    if (is_borrowed()) give_owners_to_native();
    const Plan& next = plan == nullptr ? edges_.plan().plan : *plan;
    if (!edges_.follow(next)) follow_plan(*this, next);
}

} // namespace cudag::detail
