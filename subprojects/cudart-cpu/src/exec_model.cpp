// Executable graphs: a frozen shape, and per-node states that updates replace.
#include "exec_model.hpp"

#include "handle_table.hpp"

#include <algorithm>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

// Never destroyed: a program's static objects may still destroy their execs when it ends.
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
    }
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
    }
    return shape;
}

} // namespace

Exec::Exec(const Graph& graph, unsigned long long flags)
    : flags_(flags), shape_(shape_of(graph)), user_objects_(user_objects_of(graph)) {
    states_.reserve(graph.nodes().size());
    for (const auto& node : graph.nodes())
        states_.push_back({node->work});
}

std::size_t Exec::index_of(cudaGraphNode_t source) const {
    node_of(source);
    const auto found = std::lower_bound(shape_->sources.begin(), shape_->sources.end(), source, std::less<>());
    if (found == shape_->sources.end() || *found != source)
        fail(cudaErrorInvalidValue,
             text("node ", source, " is not in the graph from which the executable graph was instantiated"));
    return static_cast<std::size_t>(found - shape_->sources.begin());
}

void Exec::update_work(std::size_t index, WorkPointer next) {
    const Work& current = *states_[index].work;
    if (const auto refused = current.refuse_node_update(*next))
        fail(cudaErrorInvalidValue, text("node ", index, " (", current.title(), "): ", refused->reason));
    states_[index].work = std::move(next);
    snapshot_ = nullptr;
}

void Exec::set_enabled(std::size_t index, bool enabled) noexcept {
    states_[index].enabled = enabled;
    snapshot_ = nullptr;
}

void Exec::set_all(std::vector<WorkPointer> works, std::vector<UserObjectPointer> user_objects) noexcept {
    for (std::size_t i = 0; i < works.size(); ++i)
        states_[i].work = std::move(works[i]);
    release_user_objects();
    user_objects_ = std::move(user_objects);
}

void Exec::release_user_objects() noexcept {
    snapshot_ = nullptr;
    if (latest) release_asynchronously(std::move(user_objects_));
    user_objects_.clear();
}

std::shared_ptr<const ExecSnapshot> Exec::snapshot() {
    if (!snapshot_) {
        std::vector<std::uint32_t> staged;
        for (std::uint32_t i = 0; i < states_.size(); ++i)
            if (states_[i].enabled && states_[i].work->is_staged()) staged.push_back(i);
        snapshot_ = std::make_shared<ExecSnapshot>(ExecSnapshot{
            shape_, std::make_shared<const std::vector<NodeState>>(states_), std::move(staged), user_objects_});
    }
    return snapshot_;
}

std::vector<UserObjectPointer> user_objects_of(const Graph& graph) {
    std::vector<UserObjectPointer> objects;
    objects.reserve(graph.user_objects.size());
    for (const auto& [handle, held] : graph.user_objects)
        objects.push_back(held.object);
    return objects;
}

cudaGraphExec_t register_exec(std::shared_ptr<Exec> exec) {
    return execs().add(std::move(exec));
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
