// The owners of what a graph uses, and their copies in CUDA's graph.
#include "graph_owners.hpp"

#include "construction.hpp"
#include "graph_records.hpp"
#include "graph_tree.hpp"
#include "lists/growth.hpp"
#include "native_graph.hpp"
#include "node_flags.hpp"
#include "owners/pool_numbers.hpp"

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
    owned_by(graph).bundle();
    for (const auto& bundle : owned_by(graph).bundles())
        owners.push_back({0, 0, bundle});
    for (const auto& inner : tree_of(graph).nested())
        list_owners(*inner, owners);
}

bool may_have_owners(const GraphState& graph) noexcept {
    return !owned_by(graph).empty() || !tree_of(graph).nested().empty();
}

void give_owners_to_native(GraphState& graph) {
    for (const auto& inner : tree_of(graph).nested())
        give_owners_to_native(*inner);
    owned_by(graph).give_to(native_of(graph));
}

void drop_owners(GraphState& graph) noexcept {
    for (const auto& inner : tree_of(graph).nested())
        drop_owners(*inner);
    owned_by(graph).clear();
}

void keep_owners(GraphState& graph, std::vector<std::shared_ptr<const void>>&& owners, std::uint32_t node) {
    owned_by(graph).reserve(owners.size());
    NodeFlags& special = records_of(graph).special();
    special.owners = special.owners || !owners.empty();
    Construction& construction = construction_of(graph);
    if (construction.pool == 0) construction.pool = pool_among(owners);
    for (auto& owner : owners)
        owned_by(graph).add(std::move(owner), node);
}

namespace {

void take_owners(GraphState& graph) noexcept {
    owned_by(graph).take_from(native_of(graph));
    for (const auto& inner : tree_of(graph).nested())
        take_owners(*inner);
}

void return_owners(GraphState& graph) noexcept {
    owned_by(graph).return_to(native_of(graph));
    for (const auto& inner : tree_of(graph).nested())
        return_owners(*inner);
}

} // namespace

WithoutUserObjects::WithoutUserObjects(GraphState& graph) noexcept
    : graph_(graph), may_have_(owned_by(graph).is_given() || !tree_of(graph).nested().empty()) {
    if (may_have_) take_owners(graph);
}

WithoutUserObjects::~WithoutUserObjects() {
    if (may_have_) return_owners(graph_);
}

} // namespace cudag::detail
