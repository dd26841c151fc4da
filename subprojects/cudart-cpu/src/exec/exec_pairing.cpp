// Another graph's parameters for the nodes of an exec.
#include "exec_pairing.hpp"

#include <unordered_map>
#include <utility>

namespace cudart_cpu::detail {

namespace {

[[noreturn]] void refuse_topology(std::string reason, const Node* node = nullptr, const Node* from = nullptr) {
    throw UpdateFailure{cudaGraphExecUpdateErrorTopologyChanged, std::move(reason), node ? node->handle : nullptr,
                        from ? from->handle : nullptr};
}

/// Pairs the nodes of an exec and a graph as CUDA does: one node without dependents after the other, in the order of
/// sinks_of(); from each pair backwards, dependencies in the order in which they were added.
class Pairing {
  public:
    Pairing(const ExecGraph& exec, const Graph& graph) : exec_(exec), graph_(graph), twins_(exec.states.size()) {
        if (graph.nodes().size() != twins_.size())
            refuse_topology(
                text("the executable graph has ", twins_.size(), " nodes, the graph ", graph.nodes().size()));
        pair_sinks();
        if (numbers_.size() != twins_.size())
            refuse_topology("not every node of the graph corresponds to one of the executable graph");
    }

    const Node& twin_of(std::size_t index) const { return *twins_[index]; }

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

    /// False if one of the two has another twin.
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
    std::unordered_map<const Node*, std::uint32_t> numbers_; // of twins
    std::vector<std::uint32_t> open_;                        // paired, their dependencies not yet
};

void add_works(std::vector<NewWork>& works, ExecGraph& exec, const Graph& graph, bool fixed_priority) {
    const Pairing pairing(exec, graph);
    for (std::size_t i = 0; i < exec.states.size(); ++i) {
        NodeState& state = exec.states[i];
        const Work& current = *state.work;
        const Node& twin = pairing.twin_of(i);
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
            add_works(works, state.bodies[body], *twin.bodies[body], fixed_priority);
    }
}

} // namespace

std::vector<NewWork> works_from(const Graph& graph, ExecGraph& exec, unsigned long long flags) {
    std::vector<NewWork> works;
    add_works(works, exec, graph, (flags & cudaGraphInstantiateFlagUseNodePriority) != 0);
    return works;
}

} // namespace cudart_cpu::detail
