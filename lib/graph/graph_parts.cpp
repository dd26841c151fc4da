// The parts of a graph, for sources that know one part only: each is declared in the header of its part.
#include "graph_locks.hpp"
#include "graph_state.hpp"
#include "in_force.hpp"
#include "native_graph.hpp"

namespace cudag::detail {

const GraphIdentity& identity_of(const GraphState& graph) noexcept {
    return graph.identity();
}

const GraphTree& tree_of(const GraphState& graph) noexcept {
    return graph.tree();
}

const GraphState& root_of(const GraphState& graph) noexcept {
    return graph.root();
}

GraphState& root_of(GraphState& graph) noexcept {
    return graph.root();
}

const std::vector<std::shared_ptr<GraphState>>& nested_of(const GraphState& graph) {
    return graph.nested();
}

std::span<const std::shared_ptr<GraphState>> nested_in(const GraphState& graph, std::uint32_t index) {
    return graph.nested_in(index);
}

const GraphRecords& records_of(const GraphState& graph) noexcept {
    return graph.records();
}

GraphRecords& records_of(GraphState& graph) noexcept {
    return graph.records();
}

GraphEdges& edge_lists_of(GraphState& graph) noexcept {
    return graph.edge_lists();
}

const GraphEdges& edge_lists_of(const GraphState& graph) {
    return graph.edge_lists();
}

const std::vector<EdgeRecord>& edges_of(const GraphState& graph) {
    return graph.edges();
}

const GraphOwners& owned_by(const GraphState& graph) noexcept {
    return graph.owners();
}

GraphOwners& owned_by(GraphState& graph) noexcept {
    return graph.owners();
}

const Construction& construction_of(const GraphState& graph) noexcept {
    return graph.construction();
}

Construction& construction_of(GraphState& graph) noexcept {
    return graph.construction();
}

void set_destroyed_by(GraphState& root, const SourceLocation& where) noexcept {
    root.set_destroyed_by(where);
}

const Conditions& conditions_of(const GraphState& root) noexcept {
    return root.conditions();
}

Conditions& conditions_of(GraphState& root) noexcept {
    return root.conditions();
}

const ChangeLog& changes_of(const GraphState& graph) noexcept {
    return graph.changes();
}

ChangeLog& changes_of(GraphState& graph) noexcept {
    return graph.changes();
}

GraphMemos& memos_of(const GraphState& graph) noexcept {
    return graph.memos();
}

ExecCount& execs_of(const GraphState& graph) noexcept {
    return graph.execs();
}

std::unique_lock<LightMutex> lock_of(const GraphState& graph) {
    return graph.lock();
}

bool is_locked(const GraphState& graph) noexcept {
    return graph.root().mutex_.is_locked();
}

GraphLocks::GraphLocks(const GraphState& a, const GraphState& b)
    : first_(a.lock(std::defer_lock)), second_(&a.root() == &b.root() ? decltype(second_)() : b.lock(std::defer_lock)) {
    if (second_.mutex() == nullptr)
        first_.lock();
    else
        std::lock(first_, second_);
}

cudaGraph_t native_of(const GraphState& graph) noexcept {
    return graph.native();
}

void complete_native(GraphState& graph, const Plan* plan) {
    graph.complete_native(plan);
}

void give_up_native(GraphState& graph) noexcept {
    graph.set_owns_native(false);
}

void take_native(GraphState& graph) noexcept {
    graph.set_owns_native(true);
}

std::shared_ptr<GraphState> make_graph(cudaGraph_t native) {
    return std::make_shared<GraphState>(native);
}

bool is_borrowed(const GraphState& graph) noexcept {
    return graph.is_borrowed();
}

const NodeParams& GraphInForce::params(const NodePlace& node) const {
    return node.graph->records().params(node.index);
}

void GraphInForce::for_each_declared(const NodePlace& node, const AccessVisitor& visit) const {
    detail::for_each_declared(node.graph->records(), node.index, visit);
}

std::uint32_t GraphInForce::region(const NodePlace& node) const {
    return node.graph->records().units().of(node.index);
}

std::uint64_t GraphInForce::declared_version(const GraphState& graph) const {
    return graph.records().declared_version();
}

} // namespace cudag::detail
