// The owners of what a graph uses, and their copies in CUDA's graph.
#include "graph_owners.hpp"

#include "graph_state.hpp"
#include "lists/growth.hpp"

#include <utility>

namespace cudag::detail {

void GraphOwners::add_bundle() {
    reserve_more(bundles_, 1);
    bundles_.push_back(std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(waiting_.objects())));
    waiting_.clear();
}

void GraphOwners::give_to(cudaGraph_t graph) {
    if (given_bundles_ == bundles_.size()) return;
    given_.reserve();
    given_.add(
        keep_with_graph(graph, {bundles_.begin() + static_cast<std::ptrdiff_t>(given_bundles_), bundles_.end()}));
    given_bundles_ = bundles_.size();
}

void list_owners(GraphState& graph, Owners& owners) {
    graph.owners().bundle();
    for (const auto& bundle : graph.owners().bundles())
        owners.push_back({0, 0, bundle});
    for (const auto& inner : graph.tree().nested())
        list_owners(*inner, owners);
}

bool may_have_owners(const GraphState& graph) noexcept {
    return !graph.owners().empty() || !graph.tree().nested().empty();
}

void give_owners_to_native(GraphState& graph) {
    for (const auto& inner : graph.tree().nested())
        give_owners_to_native(*inner);
    graph.owners().give_to(graph.native());
}

void drop_owners(GraphState& graph) noexcept {
    for (const auto& inner : graph.tree().nested())
        drop_owners(*inner);
    graph.owners().clear();
}

void keep_owners(GraphState& graph, std::vector<std::shared_ptr<const void>>&& owners, std::uint32_t node) {
    graph.owners().reserve(owners.size());
    NodeFlags& special = graph.records().special();
    special.owners = special.owners || !owners.empty();
    for (auto& owner : owners)
        graph.owners().add(std::move(owner), node);
}

namespace {

void take_owners(GraphState& graph) noexcept {
    graph.owners().take_from(graph.native());
    for (const auto& inner : graph.tree().nested())
        take_owners(*inner);
}

void return_owners(GraphState& graph) noexcept {
    graph.owners().return_to(graph.native());
    for (const auto& inner : graph.tree().nested())
        return_owners(*inner);
}

} // namespace

WithoutUserObjects::WithoutUserObjects(GraphState& graph) noexcept
    : graph_(graph), may_have_(graph.owners().is_given() || !graph.tree().nested().empty()) {
    if (may_have_) take_owners(graph);
}

WithoutUserObjects::~WithoutUserObjects() {
    if (may_have_) return_owners(graph_);
}

} // namespace cudag::detail
