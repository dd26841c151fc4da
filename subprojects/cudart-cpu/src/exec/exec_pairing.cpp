// Pairs of an exec's nodes and another graph's nodes, for updates.
#include "exec_pairing.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cudart_cpu::detail {

namespace {

[[noreturn]] void refuse_topology(std::string reason, const Node* node = nullptr, const Node* from = nullptr) {
    throw UpdateFailure{cudaGraphExecUpdateErrorTopologyChanged, std::move(reason), node ? node->handle : nullptr,
                        from ? from->handle : nullptr};
}

/// Pairs the nodes of an exec and a graph as CUDA does for the update of a whole graph: one node without dependents
/// after the other, in the order of sinks_of(); from each pair backwards, dependencies in the order of their addition.
class EdgePairing {
  public:
    EdgePairing(const ExecGraph& exec, const Graph& graph) : exec_(exec), graph_(graph), twins_(exec.states.size()) {
        if (graph.nodes().size() != twins_.size())
            refuse_topology(
                text("the executable graph has ", twins_.size(), " nodes, the graph ", graph.nodes().size()));
        pair_sinks();
        if (numbers_.size() != twins_.size())
            refuse_topology("not every node of the graph corresponds to one of the executable graph");
    }

    std::vector<const Node*> twins() && { return std::move(twins_); }

  private:
    void pair_sinks() {
        auto ours = exec_.shape->sinks.begin();
        for (const Node* theirs : sinks_of(graph_)) {
            if (ours == exec_.shape->sinks.end())
                refuse_topology("the graph has more nodes without dependents than the executable graph", theirs);
            pair(*ours++, *theirs);
            pair_all_before();
        }
    }

    void pair_all_before() {
        while (!open_.empty()) {
            const std::uint32_t index = open_.back();
            open_.pop_back();
            const auto& ours = exec_.shape->dependencies[index];
            const auto& theirs = twins_[index]->dependencies;
            for (std::size_t i = 0; i < ours.size(); ++i) {
                if (!pair(ours[i], *theirs[i]))
                    refuse_topology(text("dependency ", i, " of node ", index, " differs"), twins_[index], theirs[i]);
                if (!same(exec_.shape->data[index][i], twins_[index]->dependency_data[i]))
                    refuse_topology(text("the data of dependency ", i, " of node ", index, " differs"), twins_[index],
                                    theirs[i]);
            }
        }
    }

    /// Returns false if one of the two has another twin.
    bool pair(std::uint32_t index, const Node& node) {
        const auto [known, fresh] = numbers_.emplace(&node, index);
        if (!fresh) return known->second == index;
        if (twins_[index]) return false;
        twins_[index] = &node;
        const std::size_t ours = exec_.shape->dependencies[index].size();
        if (ours != node.dependencies.size())
            refuse_topology(text("node ", index, " has ", ours, " dependencies in the executable graph, ",
                                 node.dependencies.size(), " in the graph"),
                            &node);
        open_.push_back(index);
        return true;
    }

    const ExecGraph& exec_;
    const Graph& graph_;
    std::vector<const Node*> twins_;
    std::unordered_map<const Node*, std::uint32_t> numbers_; // the indices of twins
    std::vector<std::uint32_t> open_;                        // paired nodes with dependencies not yet paired
};

using EdgesByNumber = std::vector<std::pair<std::uint64_t, const cudaGraphEdgeData*>>;

/// Pairs the nodes as CUDA does for the update of a child graph: by Node::number.
std::vector<const Node*> twins_by_number(const ExecGraph& exec, const Graph& graph) {
    const ExecShape& shape = *exec.shape;
    if (shape.nodes_made != graph.nodes_made())
        refuse_topology("Number of nodes created for hGraph and hGraphExec do not match");
    std::vector<const Node*> twins;
    for (const auto& node : graph.nodes()) {
        const std::size_t index = twins.size();
        if (index == shape.numbers.size() || shape.numbers[index] != node->number)
            refuse_topology(text("the executable graph has no node ", node->number), node.get());
        EdgesByNumber ours, theirs;
        for (std::size_t i = 0; i < shape.dependencies[index].size(); ++i)
            ours.emplace_back(shape.numbers[shape.dependencies[index][i]], &shape.data[index][i]);
        for (std::size_t i = 0; i < node->dependencies.size(); ++i)
            theirs.emplace_back(node->dependencies[i]->number, &node->dependency_data[i]);
        std::sort(ours.begin(), ours.end());
        std::sort(theirs.begin(), theirs.end());
        const auto are_same = [](const auto& a, const auto& b) {
            return a.first == b.first && same(*a.second, *b.second);
        };
        if (!std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), are_same))
            refuse_topology(text("the edges to node ", node->number, " differ"), node.get());
        twins.push_back(node.get());
    }
    if (twins.size() != shape.numbers.size())
        refuse_topology(text("the graph has no node ", shape.numbers[twins.size()]));
    return twins;
}

std::vector<const Node*> twins_of(const ExecGraph& exec, const Graph& graph, PairedBy by) {
    return by == PairedBy::number ? twins_by_number(exec, graph) : EdgePairing(exec, graph).twins();
}

void add_works(std::vector<NewWork>& works, ExecGraph& exec, const Graph& graph, PairedBy by, bool fixed_priority) {
    const std::vector<const Node*> twins = twins_of(exec, graph, by);
    for (std::size_t i = 0; i < exec.states.size(); ++i) {
        NodeState& state = exec.states[i];
        const Work& current = *state.work;
        const Node& twin = *twins[i];
        if (twin.work->type() != current.type())
            throw UpdateFailure{
                cudaGraphExecUpdateErrorNodeTypeChanged,
                text("node ", i, " changed from ", type_name(current.type()), " to ", type_name(twin.work->type())),
                twin.handle};
        if (const auto refused = current.refuse_graph_update(*twin.work, fixed_priority))
            throw UpdateFailure{refused->result, text("node ", i, " (", current.title(), "): ", refused->reason),
                                twin.handle};
        if (twin.bodies.size() != state.bodies.size())
            throw UpdateFailure{cudaGraphExecUpdateErrorParametersChanged,
                                text("node ", i, " (", current.title(), ") changed from ", state.bodies.size(), " to ",
                                     twin.bodies.size(), " graphs"),
                                twin.handle};
        works.push_back({&state, twin.work});
        for (std::size_t body = 0; body < state.bodies.size(); ++body)
            add_works(works, state.bodies[body], *twin.bodies[body], by, fixed_priority);
    }
}

} // namespace

std::vector<NewWork> works_from(const Graph& graph, ExecGraph& exec, PairedBy by, unsigned long long flags) {
    std::vector<NewWork> works;
    add_works(works, exec, graph, by, (flags & cudaGraphInstantiateFlagUseNodePriority) != 0);
    return works;
}

} // namespace cudart_cpu::detail
