// Updates of a whole exec, or of a child graph in it, from another graph.
#include "exec_graph_update.hpp"

#include "exec_pairing.hpp"
#include "graph/graph_alloc_work.hpp"
#include "graph/graph_child_work.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

bool is_device_updatable(const Graph& graph) {
    return std::ranges::any_of(graph.nodes(), [](const auto& node) {
        return node->work->decides_whether_it_runs() ||
               std::ranges::any_of(node->bodies, [](const auto& body) { return is_device_updatable(*body); });
    });
}

bool is_device_updatable(const ExecGraph& graph) {
    return std::ranges::any_of(graph.states, [](const NodeState& state) {
        return state.work->decides_whether_it_runs() ||
               std::ranges::any_of(state.bodies, [](const ExecGraph& body) { return is_device_updatable(body); });
    });
}

} // namespace

void update_exec(cudaGraphExec_t handle, cudaGraph_t source, cudaGraphExecUpdateResultInfo* result) {
    Exec& exec = exec_of(handle);
    const Graph& graph = graph_of(source);
    if (graph.owner())
        fail(cudaErrorInvalidValue, "hGraph is owned by another graph and cannot be used in cuGraphExecUpdate");
    if (graph.holds_memory() && !graph.exec.expired() && graph.exec.lock() != exec.claim) {
        if (result) *result = {};
        fail(cudaErrorNotSupported,
             "hGraph is already instantiated and contains memory allocation or free nodes. Only one instantiation "
             "of this graph may exist at any point in time.");
    }
    if (is_device_updatable(graph) || is_device_updatable(exec.graph())) {
        if (result) *result = {};
        fail(cudaErrorNotSupported, "Whole-graph update of a graph with device-updatable kernel nodes not allowed");
    }
    cudaGraphExecUpdateResultInfo unwanted;
    cudaGraphExecUpdateResultInfo& info = result ? *result : unwanted;
    info = {cudaGraphExecUpdateError, nullptr, nullptr};
    try {
        std::vector<NewWork> works = works_from(graph, exec.graph(), PairedBy::edges, exec.flags());
        std::vector<UserObjectPointer> objects = user_objects_of(graph);
        std::vector<Condition> conditions = graph.conditions;
        exec.set_works(std::move(works));
        if (graph.holds_memory()) {
            exec.claim = std::make_shared<char>();
            graph.exec = exec.claim;
            fix_allocations(graph);
        }
        exec.set_user_objects(std::move(objects));
        exec.set_conditions(std::move(conditions));
    } catch (const UpdateFailure& failure) {
        info = {failure.result, failure.node, failure.from_node};
        fail(cudaErrorGraphExecUpdateFailure, failure.reason);
    }
    info.result = cudaGraphExecUpdateSuccess;
}

void update_child(Exec& exec, NodeState& state, const Graph& from) {
    work_as<ChildWork>(*state.work);
    try {
        exec.set_works(works_from(from, state.bodies.front(), PairedBy::number, exec.flags()));
    } catch (const UpdateFailure& failure) {
        fail(cudaErrorGraphExecUpdateFailure, failure.reason);
    }
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                                         cudaGraphExecUpdateResultInfo* resultInfo) {
    return graph_api("cudaGraphExecUpdate", [&] { update_exec(hGraphExec, hGraph, resultInfo); });
}
