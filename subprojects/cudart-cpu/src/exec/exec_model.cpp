// Executable graphs: a frozen shape, and per-node states that updates replace.
#include "exec_model.hpp"

#include "exec_flat.hpp"
#include "runtime/handle_table.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

// Never destroyed: at the end of a program, its static objects may still destroy their execs.
HandleTable<Exec, cudaGraphExec_t>& execs() {
    static auto& table = *new HandleTable<Exec, cudaGraphExec_t>;
    return table;
}

std::shared_ptr<const ExecShape> shape_of(const Graph& graph) {
    auto shape = std::make_shared<ExecShape>();
    std::unordered_map<const Node*, std::uint32_t> numbers;
    for (const auto& node : graph.nodes()) {
        numbers.emplace(node.get(), static_cast<std::uint32_t>(shape->sources.size()));
        shape->sources.push_back(node->handle);
        shape->numbers.push_back(node->number);
    }
    shape->nodes_made = graph.nodes_made();
    const auto numbered = [&](const std::vector<Node*>& nodes) {
        std::vector<std::uint32_t> result;
        result.reserve(nodes.size());
        for (const Node* node : nodes)
            result.push_back(numbers.at(node));
        return result;
    };
    for (const auto& node : graph.nodes()) {
        shape->dependencies.push_back(numbered(node->dependencies));
        shape->dependents.push_back(numbered(node->dependents));
        shape->data.push_back(node->dependency_data);
    }
    shape->sinks = numbered(sinks_of(graph));
    return shape;
}

void add_user_objects(std::vector<UserObjectPointer>& objects, const Graph& graph) {
    for (const auto& [handle, held] : graph.user_objects)
        objects.push_back(held.object);
    for (const auto& node : graph.nodes())
        for (const auto& body : node->bodies)
            add_user_objects(objects, *body);
}

/// Counts the nodes of the graph and of the graphs owned by its nodes.
std::size_t count_nodes(const ExecGraph& graph) {
    std::size_t count = graph.states.size();
    for (const NodeState& state : graph.states)
        for (const ExecGraph& body : state.bodies)
            count += count_nodes(body);
    return count;
}

/// Bytes of device memory for a node, approximately as on an H200 (driver 580).
constexpr std::size_t bytes_of_node = 2048;

void add_declared(DeclaredNodes& all, const ExecGraph& graph) {
    for (const NodeState& state : graph.states) {
        if (state.declared) all.push_back(state.declared);
        for (const ExecGraph& body : state.bodies)
            add_declared(all, body);
    }
}

void forget_declared(ExecGraph& graph) {
    for (NodeState& state : graph.states) {
        state.declared = nullptr;
        for (ExecGraph& body : state.bodies)
            forget_declared(body);
    }
}

std::shared_ptr<const DeclaredNodes> declared_in(const ExecGraph& graph) {
    DeclaredNodes all;
    add_declared(all, graph);
    return all.empty() ? nullptr : std::make_shared<const DeclaredNodes>(std::move(all));
}

} // namespace

ExecGraph::ExecGraph(const Graph& graph) : shape(shape_of(graph)) {
    states.reserve(graph.nodes().size());
    for (const auto& node : graph.nodes()) {
        std::vector<ExecGraph> bodies;
        for (const auto& body : node->bodies)
            bodies.emplace_back(*body);
        states.push_back({node->work, true, std::move(bodies), node->work->forgets_order()});
    }
}

NodeState* ExecGraph::find(cudaGraphNode_t source) {
    const std::vector<cudaGraphNode_t>& sources = shape->sources;
    const auto found = std::lower_bound(sources.begin(), sources.end(), source, std::less<>());
    if (found == sources.end() || *found != source) return nullptr;
    return &states[static_cast<std::size_t>(found - sources.begin())];
}

Exec::Exec(const Graph& graph, unsigned long long flags)
    : flags_(flags), graph_(graph), user_objects_(user_objects_of(graph)), conditions_(graph.conditions),
      condition_values_(std::make_shared<ConditionValues>(graph.conditions.size())) {
    attach(graph_);
}

void Exec::attach(const ExecGraph& graph) const {
    for (const NodeState& state : graph.states) {
        state.work->attach(this, state.enabled);
        for (const ExecGraph& body : state.bodies)
            attach(body);
    }
}

void Exec::set_uploaded() {
    if (!device_memory_) device_memory_.emplace(bytes_of_node * count_nodes(graph_));
    is_uploaded_ = true;
}

Exec::~Exec() {
    detach(graph_);
    release_user_objects();
}

void Exec::detach(const ExecGraph& graph) const noexcept {
    for (const NodeState& state : graph.states) {
        state.work->detach(this);
        for (const ExecGraph& body : state.bodies)
            detach(body);
    }
}

NodeState* Exec::find(cudaGraphNode_t source) {
    if (NodeState* state = graph_.find(source)) return state;
    if (in_bodies_.empty()) {
        std::unordered_map<cudaGraphNode_t, NodeState*> all; // swapped in complete, or not at all
        index_bodies(graph_, all);
        in_bodies_.swap(all);
    }
    const auto found = in_bodies_.find(source);
    return found == in_bodies_.end() ? nullptr : found->second;
}

void Exec::index_bodies(ExecGraph& graph, std::unordered_map<cudaGraphNode_t, NodeState*>& all) {
    for (NodeState& state : graph.states)
        for (ExecGraph& body : state.bodies) {
            for (std::size_t i = 0; i < body.states.size(); ++i)
                all.emplace(body.shape->sources[i], &body.states[i]);
            index_bodies(body, all);
        }
}

NodeState& Exec::state_of(cudaGraphNode_t source) {
    node_of(source);
    NodeState* state = find(source);
    if (!state)
        fail(cudaErrorInvalidValue,
             text("node ", source, " is not in the graph from which the executable graph was instantiated"));
    return *state;
}

void Exec::update_work(NodeState& state, WorkPointer next) {
    const Work& current = *state.work;
    if (const auto refused = current.refuse_node_update(*next))
        fail(cudaErrorInvalidValue, text(current.title(), ": ", refused->reason));
    state.work = std::move(next);
    state.work->attach(this, state.enabled);
    snapshot_ = nullptr;
    is_uploaded_ = false;
}

void Exec::set_enabled(NodeState& state, bool enabled) noexcept {
    state.enabled = enabled;
    state.work->attach(this, enabled);
    snapshot_ = nullptr;
}

void Exec::set_works(std::vector<NewWork> works) noexcept {
    for (NewWork& one : works)
        one.state->work = std::move(one.work);
    snapshot_ = nullptr;
    is_uploaded_ = false;
}

void Exec::set_user_objects(std::vector<UserObjectPointer> user_objects) noexcept {
    release_user_objects();
    user_objects_ = std::move(user_objects);
}

void Exec::set_conditions(std::vector<Condition> conditions) noexcept {
    conditions_ = std::move(conditions);
    snapshot_ = nullptr;
}

void Exec::release_user_objects() noexcept {
    snapshot_ = nullptr;
    if (latest) release_asynchronously(std::move(user_objects_));
    user_objects_.clear();
}

void Exec::declare(cudaGraphNode_t source, std::shared_ptr<const DeclaredNode> declared) {
    state_of(source).declared = std::move(declared);
    snapshot_ = nullptr;
}

void Exec::declare_wait(cudaGraphNode_t source, std::shared_ptr<const std::string> name) {
    state_of(source).waits = std::move(name);
    snapshot_ = nullptr;
}

void Exec::forget_declarations() {
    forget_declared(graph_);
    snapshot_ = nullptr;
}

std::shared_ptr<const ExecSnapshot> Exec::snapshot() {
    if (!snapshot_)
        snapshot_ = std::make_shared<ExecSnapshot>(ExecSnapshot{flatten(graph_), user_objects_, memory_use_of(graph_),
                                                                conditions_, condition_values_, declared_in(graph_)});
    return snapshot_;
}

std::vector<UserObjectPointer> user_objects_of(const Graph& graph) {
    std::vector<UserObjectPointer> objects;
    add_user_objects(objects, graph);
    return objects;
}

cudaGraphExec_t register_exec(std::shared_ptr<Exec> exec) {
    Exec& registered = *exec;
    return registered.handle = execs().add(std::move(exec));
}

Exec& exec_of(cudaGraphExec_t handle) {
    const auto exec = execs().find(handle);
    if (!exec) fail(cudaErrorInvalidValue, text("executable graph ", handle, " is not alive"));
    return *exec;
}

void destroy_exec(cudaGraphExec_t handle) {
    exec_of(handle);
    execs().take(handle);
}

} // namespace cudart_cpu::detail
