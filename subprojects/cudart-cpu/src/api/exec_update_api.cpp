// Changes of single nodes of an exec: parameters, enabling and disabling.
#include "exec/exec_graph_update.hpp"
#include "exec/exec_model.hpp"
#include "graph/graph_host_work.hpp"
#include "graph/graph_memory_work.hpp"
#include "graph/graph_params.hpp"
#include "kernel/symbol_copy.hpp"

namespace cudart_cpu::detail {

namespace {

/// Updates a node; `make_work` makes its next work from its present one.
template <class MakeWork>
cudaError_t update_node(const char* name, cudaGraphExec_t handle, cudaGraphNode_t node, MakeWork&& make_work) noexcept {
    return graph_api(name, [&] {
        Exec& exec = exec_of(handle);
        NodeState& state = exec.state_of(node);
        exec.update_work(state, make_work(*state.work));
    });
}

template <class Kind, class Params>
cudaError_t update_node_from(const char* name, cudaGraphExec_t handle, cudaGraphNode_t node,
                             const Params* params) noexcept {
    return update_node(name, handle, node, [&](const Work& current) {
        require_pointer(params, "pNodeParams");
        work_as<Kind>(current);
        return std::make_shared<Kind>(*params);
    });
}

/// Returns the state of a node that can be enabled and disabled. Throws Failure for others.
NodeState& switchable(Exec& exec, cudaGraphNode_t node) {
    NodeState& state = exec.state_of(node);
    const Work& work = *state.work;
    if (!work.can_be_disabled())
        fail(cudaErrorInvalidValue, text("only kernel, memset and memcpy nodes can be enabled and disabled, not ",
                                         type_name(work.type()), " nodes"));
    return state;
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                      const struct cudaKernelNodeParams* pNodeParams) {
    return update_node("cudaGraphExecKernelNodeSetParams", hGraphExec, node, [&](const Work& current) {
        require_pointer(pNodeParams, "pNodeParams");
        return make_kernel_work(kernel_params(*pNodeParams), work_as<KernelWork>(current));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                      const struct cudaMemcpy3DParms* pNodeParams) {
    return update_node_from<MemcpyWork>("cudaGraphExecMemcpyNodeSetParams", hGraphExec, node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec,
                                                                        cudaGraphNode_t node, void* dst,
                                                                        const void* src, size_t count,
                                                                        enum cudaMemcpyKind kind) {
    return update_node("cudaGraphExecMemcpyNodeSetParams1D", hGraphExec, node, [&](const Work& current) {
        work_as<MemcpyWork>(current);
        return std::make_shared<MemcpyWork>(dst, src, count, kind);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec,
                                                                              cudaGraphNode_t node, const void* symbol,
                                                                              const void* src, size_t count,
                                                                              size_t offset, enum cudaMemcpyKind kind) {
    return update_node("cudaGraphExecMemcpyNodeSetParamsToSymbol", hGraphExec, node, [&](const Work& current) {
        work_as<MemcpyWork>(current);
        return MemcpyWork::linear(copy_to_symbol(symbol, src, count, offset, kind));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                                                cudaGraphNode_t node, void* dst,
                                                                                const void* symbol, size_t count,
                                                                                size_t offset,
                                                                                enum cudaMemcpyKind kind) {
    return update_node("cudaGraphExecMemcpyNodeSetParamsFromSymbol", hGraphExec, node, [&](const Work& current) {
        work_as<MemcpyWork>(current);
        return MemcpyWork::linear(copy_from_symbol(dst, symbol, count, offset, kind));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                      const struct cudaMemsetParams* pNodeParams) {
    return update_node_from<MemsetWork>("cudaGraphExecMemsetNodeSetParams", hGraphExec, node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                    const struct cudaHostNodeParams* pNodeParams) {
    return update_node_from<HostWork>("cudaGraphExecHostNodeSetParams", hGraphExec, node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec,
                                                                          cudaGraphNode_t node,
                                                                          cudaGraph_t childGraph) {
    return graph_api("cudaGraphExecChildGraphNodeSetParams", [&] {
        Exec& exec = exec_of(hGraphExec);
        NodeState& state = exec.state_of(node);
        update_child(exec, state, graph_of(childGraph));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                                                struct cudaGraphNodeParams* nodeParams) {
    return graph_api("cudaGraphExecNodeSetParams", [&] {
        Exec& exec = exec_of(graphExec);
        NodeState& state = exec.state_of(node);
        require_pointer(nodeParams, "nodeParams");
        if (nodeParams->type == cudaGraphNodeTypeGraph)
            update_child(exec, state, graph_of(nodeParams->graph.graph));
        else
            exec.update_work(state, make_work(*nodeParams, *state.work));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                             unsigned int isEnabled) {
    return graph_api("cudaGraphNodeSetEnabled", [&] {
        Exec& exec = exec_of(hGraphExec);
        exec.set_enabled(switchable(exec, hNode), isEnabled != 0);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                             unsigned int* isEnabled) {
    return graph_api("cudaGraphNodeGetEnabled", [&] {
        require_pointer(isEnabled, "isEnabled");
        *isEnabled = switchable(exec_of(hGraphExec), hNode).enabled ? 1 : 0;
    });
}
