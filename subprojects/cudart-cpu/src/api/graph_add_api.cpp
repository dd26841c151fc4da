// Additions of nodes to a graph.
#include "graph/graph_alloc_work.hpp"
#include "graph/graph_child_work.hpp"
#include "graph/graph_cuda12.hpp"
#include "graph/graph_event_work.hpp"
#include "graph/graph_host_work.hpp"
#include "graph/graph_memory_work.hpp"
#include "graph/graph_params.hpp"
#include "graph/graph_semaphore_work.hpp"
#include "kernel/symbol_copy.hpp"

namespace cudart_cpu::detail {

namespace {

/// Makes the content of a node. The content of some kinds depends on the nodes before them.
template <class MakeContent>
NodeContent content_for(MakeContent& make_content, const Graph& target, const std::vector<Node*>& before) {
    if constexpr (std::is_invocable_v<MakeContent, const Graph&, const std::vector<Node*>&>)
        return make_content(target, before);
    else
        return make_content(target);
}

struct ShowNothing {
    void operator()(const Node&) const noexcept {}
};

/// Adds a node. `make_content` validates the parameters and runs only if everything else is valid.
template <class MakeContent, class ShowAdded = ShowNothing>
cudaError_t add_node(const char* name, cudaGraphNode_t* added, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     std::size_t count, MakeContent&& make_content, const cudaGraphEdgeData* edge_data = nullptr,
                     ShowAdded&& show_added = {}) noexcept {
    return graph_api(name, [&] {
        require_pointer(added, "pGraphNode");
        Graph& target = graph_of(graph);
        const std::vector<Node*> before = dependencies_of(target, dependencies, count);
        NodeContent content = content_for(make_content, target, before);
        require_operands(*content.work, nullptr);
        require_valid_edges(edge_data, count, [&](std::size_t i) {
            return EdgeEnds{before[i]->work->type(), content.work->type()};
        });
        Node& node = target.add(std::move(content), before, edge_data);
        *added = node.handle;
        show_added(node);
    });
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                            const cudaGraphNode_t* pDependencies,
                                                            size_t numDependencies,
                                                            const struct cudaKernelNodeParams* pNodeParams) {
    return add_node("cudaGraphAddKernelNode", pGraphNode, graph, pDependencies, numDependencies, [&](const Graph&) {
        require_pointer(pNodeParams, "pNodeParams");
        return std::make_shared<KernelWork>(kernel_params(*pNodeParams));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                            const cudaGraphNode_t* pDependencies,
                                                            size_t numDependencies,
                                                            const struct cudaMemcpy3DParms* pCopyParams) {
    return add_node("cudaGraphAddMemcpyNode", pGraphNode, graph, pDependencies, numDependencies, [&](const Graph&) {
        require_pointer(pCopyParams, "pCopyParams");
        return std::make_shared<MemcpyWork>(*pCopyParams);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                              const cudaGraphNode_t* pDependencies,
                                                              size_t numDependencies, void* dst, const void* src,
                                                              size_t count, enum cudaMemcpyKind kind) {
    return add_node("cudaGraphAddMemcpyNode1D", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph&) { return std::make_shared<MemcpyWork>(dst, src, count, kind); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                                    const cudaGraphNode_t* pDependencies,
                                                                    size_t numDependencies, const void* symbol,
                                                                    const void* src, size_t count, size_t offset,
                                                                    enum cudaMemcpyKind kind) {
    return add_node("cudaGraphAddMemcpyNodeToSymbol", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph&) { return MemcpyWork::linear(copy_to_symbol(symbol, src, count, offset, kind)); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                                      const cudaGraphNode_t* pDependencies,
                                                                      size_t numDependencies, void* dst,
                                                                      const void* symbol, size_t count, size_t offset,
                                                                      enum cudaMemcpyKind kind) {
    return add_node(
        "cudaGraphAddMemcpyNodeFromSymbol", pGraphNode, graph, pDependencies, numDependencies,
        [&](const Graph&) { return MemcpyWork::linear(copy_from_symbol(dst, symbol, count, offset, kind)); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                            const cudaGraphNode_t* pDependencies,
                                                            size_t numDependencies,
                                                            const struct cudaMemsetParams* pMemsetParams) {
    return add_node("cudaGraphAddMemsetNode", pGraphNode, graph, pDependencies, numDependencies, [&](const Graph&) {
        require_pointer(pMemsetParams, "pMemsetParams");
        return std::make_shared<MemsetWork>(*pMemsetParams);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                          const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                                          const struct cudaHostNodeParams* pNodeParams) {
    return add_node("cudaGraphAddHostNode", pGraphNode, graph, pDependencies, numDependencies, [&](const Graph&) {
        require_pointer(pNodeParams, "pNodeParams");
        return std::make_shared<HostWork>(*pNodeParams);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                           const cudaGraphNode_t* pDependencies,
                                                           size_t numDependencies) {
    return add_node("cudaGraphAddEmptyNode", pGraphNode, graph, pDependencies, numDependencies,
                    [](const Graph&) { return std::make_shared<EmptyWork>(); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                                 const cudaGraphNode_t* pDependencies,
                                                                 size_t numDependencies, cudaEvent_t event) {
    return add_node("cudaGraphAddEventRecordNode", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph&) { return std::make_shared<EventRecordWork>(event); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                               const cudaGraphNode_t* pDependencies,
                                                               size_t numDependencies, cudaEvent_t event) {
    return add_node("cudaGraphAddEventWaitNode", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph&) { return std::make_shared<EventWaitWork>(event); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddExternalSemaphoresSignalNode(
    cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies, size_t numDependencies,
    const struct cudaExternalSemaphoreSignalNodeParams* nodeParams) {
    return add_node("cudaGraphAddExternalSemaphoresSignalNode", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph&) {
                        require_pointer(nodeParams, "nodeParams");
                        return std::make_shared<SignalWork>(*nodeParams);
                    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddExternalSemaphoresWaitNode(
    cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies, size_t numDependencies,
    const struct cudaExternalSemaphoreWaitNodeParams* nodeParams) {
    return add_node("cudaGraphAddExternalSemaphoresWaitNode", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph&) {
                        require_pointer(nodeParams, "nodeParams");
                        return std::make_shared<SemaphoreWaitWork>(*nodeParams);
                    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                                const cudaGraphNode_t* pDependencies,
                                                                size_t numDependencies, cudaGraph_t childGraph) {
    return add_node("cudaGraphAddChildGraphNode", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph& target) { return cloned_child(childGraph, target); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                              const cudaGraphNode_t* pDependencies,
                                                              size_t numDependencies,
                                                              struct cudaMemAllocNodeParams* nodeParams) {
    return add_node("cudaGraphAddMemAllocNode", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph& target, const std::vector<Node*>& before) {
                        require_pointer(nodeParams, "nodeParams");
                        auto work = make_alloc_work(*nodeParams, target, before);
                        nodeParams->dptr = work->address();
                        return work;
                    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                             const cudaGraphNode_t* pDependencies,
                                                             size_t numDependencies, void* dptr) {
    return add_node("cudaGraphAddMemFreeNode", pGraphNode, graph, pDependencies, numDependencies,
                    [&](const Graph& target) { return make_free_work(dptr, target); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                      const cudaGraphNode_t* pDependencies,
                                                      const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                                                      struct cudaGraphNodeParams* nodeParams) {
    const auto content = [&](const Graph& target, const std::vector<Node*>& before) {
        require_pointer(nodeParams, "nodeParams");
        return make_content(*nodeParams, target, before);
    };
    const auto show_bodies = [&](Node& node) {
        if (node.work->type() == cudaGraphNodeTypeConditional)
            nodeParams->conditional.phGraph_out = node.body_handles.data();
    };
    return add_node("cudaGraphAddNode", pGraphNode, graph, pDependencies, numDependencies, content, dependencyData,
                    show_bodies);
}
