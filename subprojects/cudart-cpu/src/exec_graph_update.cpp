// A whole exec updated from another graph.
#include "exec_model.hpp"

#include <optional>
#include <unordered_map>
#include <utility>

namespace cudart_cpu::detail {

namespace {

/// Why the graph's parameters cannot go into the exec.
struct UpdateFailure {
    cudaGraphExecUpdateResult result;
    std::string reason;
    cudaGraphNode_t node = nullptr;
    cudaGraphNode_t from_node = nullptr;
};

[[noreturn]] void refuse_topology(std::string reason, const Node* node = nullptr, const Node* from = nullptr) {
    throw UpdateFailure{cudaGraphExecUpdateErrorTopologyChanged, std::move(reason), node ? node->handle : nullptr,
                        from ? from->handle : nullptr};
}

/// Pairs the nodes of an exec and a graph as CUDA does: nodes without dependents in the order in which they were added,
/// latest first; then from each pair backwards, dependencies in the order in which they were added.
class Pairing {
  public:
    Pairing(const Exec& exec, const Graph& graph) : exec_(exec), graph_(graph), twins_(exec.states().size()) {
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
        auto sink = static_cast<std::uint32_t>(twins_.size());
        const auto next_sink = [&] {
            while (sink > 0 && !exec_.shape().dependents[sink - 1].empty())
                --sink;
            return sink > 0;
        };
        const auto& nodes = graph_.nodes();
        for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
            if (!(*node)->dependents.empty()) continue;
            if (!next_sink())
                refuse_topology("the graph has more nodes without dependents than the executable graph", node->get());
            pair(--sink, **node);
            pair_all_before();
        }
    }

    void pair_all_before() {
        while (!open_.empty()) {
            const std::uint32_t index = open_.back();
            open_.pop_back();
            const auto& ours = exec_.shape().dependencies[index];
            const auto& theirs = twins_[index]->dependencies;
            for (std::size_t i = 0; i < ours.size(); ++i)
                if (!pair(ours[i], *theirs[i]))
                    refuse_topology(text("dependency ", i, " of node ", index, " differs"), twins_[index], theirs[i]);
        }
    }

    /// False if one of the two has another twin.
    bool pair(std::uint32_t index, const Node& node) {
        const auto [known, fresh] = numbers_.emplace(&node, index);
        if (!fresh) return known->second == index;
        if (twins_[index]) return false;
        twins_[index] = &node;
        const std::size_t ours = exec_.shape().dependencies[index].size();
        if (ours != node.dependencies.size())
            refuse_topology(text("node ", index, " has ", ours, " dependencies in the executable graph, ",
                                 node.dependencies.size(), " in the graph"),
                            &node);
        open_.push_back(index);
        return true;
    }

    const Exec& exec_;
    const Graph& graph_;
    std::vector<const Node*> twins_;
    std::unordered_map<const Node*, std::uint32_t> numbers_; // of twins
    std::vector<std::uint32_t> open_;                        // paired, their dependencies not yet
};

/// The new work of every node. Throws UpdateFailure.
std::vector<WorkPointer> updated_works(const Exec& exec, const Graph& graph) {
    const Pairing pairing(exec, graph);
    const bool fixed_priority = (exec.flags() & cudaGraphInstantiateFlagUseNodePriority) != 0;
    std::vector<WorkPointer> works;
    works.reserve(exec.states().size());
    for (std::size_t i = 0; i < exec.states().size(); ++i) {
        const Work& current = *exec.states()[i].work;
        const Node& twin = pairing.twin_of(i);
        if (twin.work->type() != current.type())
            throw UpdateFailure{
                cudaGraphExecUpdateErrorNodeTypeChanged,
                text("node ", i, " changed from ", type_name(current.type()), " to ", type_name(twin.work->type())),
                twin.handle};
        if (const auto refused = current.refuse_graph_update(*twin.work, fixed_priority))
            throw UpdateFailure{refused->result, text("node ", i, " (", current.title(), "): ", refused->reason),
                                twin.handle};
        works.push_back(twin.work);
    }
    return works;
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                                         cudaGraphExecUpdateResultInfo* resultInfo) {
    return graph_api("cudaGraphExecUpdate", [&] {
        cudaGraphExecUpdateResultInfo unwanted;
        cudaGraphExecUpdateResultInfo& info = resultInfo ? *resultInfo : unwanted;
        info = {cudaGraphExecUpdateError, nullptr, nullptr};
        try {
            Exec& exec = exec_of(hGraphExec);
            const Graph& graph = graph_of(hGraph);
            std::vector<WorkPointer> works = updated_works(exec, graph);
            exec.set_all(std::move(works), user_objects_of(graph));
        } catch (const UpdateFailure& failure) {
            info = {failure.result, failure.node, failure.from_node};
            fail(cudaErrorGraphExecUpdateFailure, failure.reason);
        }
        info.result = cudaGraphExecUpdateSuccess;
    });
}
