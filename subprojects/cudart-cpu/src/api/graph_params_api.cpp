// Parameters of a graph's nodes: queries and changes.
#include "graph/graph_alloc_work.hpp"
#include "graph/graph_host_work.hpp"
#include "graph/graph_memory_work.hpp"
#include "graph/graph_params.hpp"
#include "kernel/symbol_copy.hpp"
#include "runtime/driver_version.hpp"

namespace cudart_cpu::detail {

namespace {

/// Changes a node; `make_work` makes its next work from its present one, a Kind.
template <class Kind, class MakeWork>
cudaError_t set_params(const char* name, cudaGraphNode_t handle, MakeWork&& make_work) noexcept {
    return graph_api(name, [&] {
        Node& node = node_of(handle);
        WorkPointer next = make_work(work_of<Kind>(node));
        require_operands(*next, node.work.get());
        node.set_work(std::move(next));
    });
}

template <class Kind, class Params>
cudaError_t get_params(const char* name, cudaGraphNode_t handle, Params* params) noexcept {
    return graph_api(name, [&] {
        require_pointer(params, "pNodeParams");
        *params = work_of<Kind>(node_of(handle)).params();
    });
}

template <class Kind, class Params>
cudaError_t set_params_from(const char* name, cudaGraphNode_t handle, const Params* params) noexcept {
    return set_params<Kind>(name, handle, [&](const Kind&) {
        require_pointer(params, "pNodeParams");
        return std::make_shared<Kind>(*params);
    });
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                                  struct cudaKernelNodeParams* pNodeParams) {
    return graph_api("cudaGraphKernelNodeGetParams", [&] {
        require_pointer(pNodeParams, "pNodeParams");
        *pNodeParams = kernel_params_of(node_of(node));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                                  const struct cudaKernelNodeParams* pNodeParams) {
    return set_params<KernelWork>("cudaGraphKernelNodeSetParams", node, [&](const KernelWork& current) {
        require_pointer(pNodeParams, "pNodeParams");
        return make_kernel_work(kernel_params(*pNodeParams), current);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                                  struct cudaMemcpy3DParms* pNodeParams) {
    return get_params<MemcpyWork>("cudaGraphMemcpyNodeGetParams", node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                                  const struct cudaMemcpy3DParms* pNodeParams) {
    return set_params_from<MemcpyWork>("cudaGraphMemcpyNodeSetParams", node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src,
                                                                    size_t count, enum cudaMemcpyKind kind) {
    return set_params<MemcpyWork>("cudaGraphMemcpyNodeSetParams1D", node, [&](const MemcpyWork&) {
        return std::make_shared<MemcpyWork>(dst, src, count, kind);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                                          const void* src, size_t count, size_t offset,
                                                                          enum cudaMemcpyKind kind) {
    return set_params<MemcpyWork>("cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](const MemcpyWork&) {
        return MemcpyWork::linear(copy_to_symbol(symbol, src, count, offset, kind));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst,
                                                                            const void* symbol, size_t count,
                                                                            size_t offset, enum cudaMemcpyKind kind) {
    return set_params<MemcpyWork>("cudaGraphMemcpyNodeSetParamsFromSymbol", node, [&](const MemcpyWork&) {
        return MemcpyWork::linear(copy_from_symbol(dst, symbol, count, offset, kind));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                                  struct cudaMemsetParams* pNodeParams) {
    return get_params<MemsetWork>("cudaGraphMemsetNodeGetParams", node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                                  const struct cudaMemsetParams* pNodeParams) {
    return set_params_from<MemsetWork>("cudaGraphMemsetNodeSetParams", node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                                struct cudaHostNodeParams* pNodeParams) {
    return get_params<HostWork>("cudaGraphHostNodeGetParams", node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                                const struct cudaHostNodeParams* pNodeParams) {
    return set_params_from<HostWork>("cudaGraphHostNodeSetParams", node, pNodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                                    struct cudaMemAllocNodeParams* params_out) {
    return get_params<AllocWork>("cudaGraphMemAllocNodeGetParams", node, params_out);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) {
    return graph_api("cudaGraphMemFreeNodeGetParams", [&] {
        require_pointer(dptr_out, "dptr_out");
        *static_cast<void**>(dptr_out) = work_of<FreeWork>(node_of(node)).address();
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node,
                                                            struct cudaGraphNodeParams* nodeParams) {
    return graph_api("cudaGraphNodeSetParams", [&] {
        require_pointer(nodeParams, "nodeParams");
        Node& target = node_of(node);
        NodeContent content = make_content(*nodeParams, target);
        require_operands(*content.work, target.work.get());
        target.set_content(std::move(content));
    });
}

#if CUDART_VERSION >= 13020
CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetParams(cudaGraphNode_t node,
                                                            struct cudaGraphNodeParams* nodeParams) {
    return graph_api("cudaGraphNodeGetParams", [&] {
        require_driver(13020);
        require_pointer(nodeParams, "nodeParams");
        *nodeParams = params_of(node_of(node));
    });
}
#endif
