// A whole exec updated from another graph.
#include "exec_pairing.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                                         cudaGraphExecUpdateResultInfo* resultInfo) {
    return graph_api("cudaGraphExecUpdate", [&] {
        Exec& exec = exec_of(hGraphExec);
        const Graph& graph = graph_of(hGraph);
        if (graph.owner())
            fail(cudaErrorInvalidValue, "hGraph is owned by another graph and cannot be used in cuGraphExecUpdate");
        cudaGraphExecUpdateResultInfo unwanted;
        cudaGraphExecUpdateResultInfo& info = resultInfo ? *resultInfo : unwanted;
        info = {cudaGraphExecUpdateError, nullptr, nullptr};
        try {
            if (graph.holds_memory() && !graph.exec.expired() && graph.exec.lock().get() != &exec)
                throw UpdateFailure{cudaGraphExecUpdateErrorNotSupported,
                                    "the graph has alloc or free nodes and another executable graph"};
            std::vector<NewWork> works = works_from(graph, exec.graph(), exec.flags());
            std::vector<UserObjectPointer> objects = user_objects_of(graph);
            std::vector<Condition> conditions = graph.conditions;
            exec.set_works(std::move(works));
            exec.set_user_objects(std::move(objects));
            exec.set_conditions(std::move(conditions));
        } catch (const UpdateFailure& failure) {
            info = {failure.result, failure.node, failure.from_node};
            fail(cudaErrorGraphExecUpdateFailure, failure.reason);
        }
        info.result = cudaGraphExecUpdateSuccess;
    });
}
