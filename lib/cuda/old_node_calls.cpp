// The functions for nodes of one kind each: tests/layers.py lets no other source name them.
#include "old_node_calls.hpp"

#include "compat.hpp"
#include "driver.hpp"
#include "driver_function.hpp"
#include "node_calls.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstring>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace cudag::detail {

namespace old_calls {

namespace {

// Members of CUDA's union, and the older structures of the functions for one kind.
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == sizeof(CUDA_KERNEL_NODE_PARAMS_v3));
static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS, ctx) == offsetof(CUDA_KERNEL_NODE_PARAMS_v3, ctx));
static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS) == sizeof(cudaExternalSemaphoreSignalParams));
static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS) == sizeof(cudaExternalSemaphoreWaitParams));
static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));

/// The driver's functions for memory operations, which the runtime has not.
struct MemoryOperationCalls {
    CUresult(CUDAAPI* add)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                           const CUDA_BATCH_MEM_OP_NODE_PARAMS*);
    CUresult(CUDAAPI* get)(CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS*);
    CUresult(CUDAAPI* set)(CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS*);
    CUresult(CUDAAPI* exec_set)(CUgraphExec, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS*);
};
/// Null where the driver has none. Throws Error.
const MemoryOperationCalls& memory_operation_calls();

/// The runtime's answer as the driver's, which leaves no last error.
CUresult answer(cudaError_t status) noexcept {
    ignore(status);
    return static_cast<CUresult>(status);
}

/// The beginning of a member is the older structure.
template <class Old, class New>
Old older(const New& member) noexcept {
    static_assert(sizeof(Old) <= sizeof(New));
    Old result{};
    std::memcpy(static_cast<void*>(&result), &member, sizeof result);
    return result;
}
template <class New, class Old>
void put(New& member, const Old& from) noexcept {
    static_assert(sizeof(Old) <= sizeof(New));
    member = New{};
    std::memcpy(static_cast<void*>(&member), &from, sizeof from);
}

cudaError_t add_by_kind(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                        CUgraphNodeParams& params) {
    switch (params.type) {
    case CU_GRAPH_NODE_TYPE_HOST: {
        const auto host = older<cudaHostNodeParams>(params.host);
        return cudaGraphAddHostNode(node, graph, after, count, &host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cudaGraphAddChildGraphNode(node, graph, after, count, params.graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return cudaGraphAddEmptyNode(node, graph, after, count);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cudaGraphAddEventRecordNode(node, graph, after, count, params.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cudaGraphAddEventWaitNode(node, graph, after, count, params.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: {
        const auto signal = older<cudaExternalSemaphoreSignalNodeParams>(params.extSemSignal);
        return cudaGraphAddExternalSemaphoresSignalNode(node, graph, after, count, &signal);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: {
        const auto wait = older<cudaExternalSemaphoreWaitNodeParams>(params.extSemWait);
        return cudaGraphAddExternalSemaphoresWaitNode(node, graph, after, count, &wait);
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
        auto alloc = older<cudaMemAllocNodeParams>(params.alloc);
        const cudaError_t status = cudaGraphAddMemAllocNode(node, graph, after, count, &alloc);
        params.alloc.dptr = std::bit_cast<CUdeviceptr>(alloc.dptr);
        return status;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cudaGraphAddMemFreeNode(node, graph, after, count, std::bit_cast<void*>(params.free.dptr));
    default:
        return cudaErrorNotSupported;
    }
}

CUresult CUDAAPI add(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* /*data*/,
                     std::size_t count, CUgraphNodeParams* params) {
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const auto kernel = older<CUDA_KERNEL_NODE_PARAMS>(params->kernel);
        return driver().kernels.add(node, graph, after, count, &kernel);
    }
    if (params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        const auto operations = older<CUDA_BATCH_MEM_OP_NODE_PARAMS>(params->memOp);
        const auto add_operations = memory_operation_calls().add;
        return add_operations == nullptr ? CUDA_ERROR_NOT_SUPPORTED
                                         : add_operations(node, graph, after, count, &operations);
    }
    return answer(add_by_kind(node, graph, after, count, *params));
}

cudaError_t set_by_kind(CUgraphNode node, const CUgraphNodeParams& params) {
    switch (params.type) {
    case CU_GRAPH_NODE_TYPE_HOST: {
        const auto host = older<cudaHostNodeParams>(params.host);
        return cudaGraphHostNodeSetParams(node, &host);
    }
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cudaGraphEventRecordNodeSetEvent(node, params.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cudaGraphEventWaitNodeSetEvent(node, params.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: {
        const auto signal = older<cudaExternalSemaphoreSignalNodeParams>(params.extSemSignal);
        return cudaGraphExternalSemaphoresSignalNodeSetParams(node, &signal);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: {
        const auto wait = older<cudaExternalSemaphoreWaitNodeParams>(params.extSemWait);
        return cudaGraphExternalSemaphoresWaitNodeSetParams(node, &wait);
    }
    default:
        return cudaErrorNotSupported;
    }
}

CUresult CUDAAPI set(CUgraphNode node, CUgraphNodeParams* params) {
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const auto kernel = older<CUDA_KERNEL_NODE_PARAMS>(params->kernel);
        return driver().kernels.set(node, &kernel);
    }
    if (params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        const auto operations = older<CUDA_BATCH_MEM_OP_NODE_PARAMS>(params->memOp);
        const auto set_operations = memory_operation_calls().set;
        return set_operations == nullptr ? CUDA_ERROR_NOT_SUPPORTED : set_operations(node, &operations);
    }
    return answer(set_by_kind(node, *params));
}

cudaError_t exec_set_by_kind(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams& params) {
    switch (params.type) {
    case CU_GRAPH_NODE_TYPE_HOST: {
        const auto host = older<cudaHostNodeParams>(params.host);
        return cudaGraphExecHostNodeSetParams(exec, node, &host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cudaGraphExecChildGraphNodeSetParams(exec, node, params.graph.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cudaGraphExecEventRecordNodeSetEvent(exec, node, params.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cudaGraphExecEventWaitNodeSetEvent(exec, node, params.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: {
        const auto signal = older<cudaExternalSemaphoreSignalNodeParams>(params.extSemSignal);
        return cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &signal);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: {
        const auto wait = older<cudaExternalSemaphoreWaitNodeParams>(params.extSemWait);
        return cudaGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, &wait);
    }
    default:
        return cudaErrorNotSupported;
    }
}

CUresult CUDAAPI exec_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const auto kernel = older<CUDA_KERNEL_NODE_PARAMS>(params->kernel);
        return driver().kernels.exec_set(exec, node, &kernel);
    }
    if (params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        const auto operations = older<CUDA_BATCH_MEM_OP_NODE_PARAMS>(params->memOp);
        const auto set_operations = memory_operation_calls().exec_set;
        return set_operations == nullptr ? CUDA_ERROR_NOT_SUPPORTED : set_operations(exec, node, &operations);
    }
    return answer(exec_set_by_kind(exec, node, *params));
}

template <class Old, class New>
cudaError_t get_as(cudaError_t (*read)(cudaGraphNode_t, Old*), CUgraphNode node, New& member) {
    Old found{};
    const cudaError_t status = read(node, &found);
    put(member, found);
    return status;
}

cudaError_t get_by_kind(CUgraphNode node, CUgraphNodeParams& params) {
    switch (params.type) {
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        cudaMemsetParams fill{};
        const cudaError_t status = cudaGraphMemsetNodeGetParams(node, &fill);
        params.memset = {std::bit_cast<CUdeviceptr>(fill.dst),
                         fill.pitch,
                         fill.value,
                         fill.elementSize,
                         fill.width,
                         fill.height,
                         CUcontext{}};
        return status;
    }
    case CU_GRAPH_NODE_TYPE_HOST:
        return get_as(cudaGraphHostNodeGetParams, node, params.host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cudaGraphChildGraphNodeGetGraph(node, &params.graph.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cudaGraphEventRecordNodeGetEvent(node, &params.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cudaGraphEventWaitNodeGetEvent(node, &params.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        return get_as(cudaGraphExternalSemaphoresSignalNodeGetParams, node, params.extSemSignal);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return get_as(cudaGraphExternalSemaphoresWaitNodeGetParams, node, params.extSemWait);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return get_as(cudaGraphMemAllocNodeGetParams, node, params.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cudaGraphMemFreeNodeGetParams(node, &params.free.dptr);
    default:
        return cudaErrorNotSupported;
    }
}

CUresult CUDAAPI get(CUgraphNode node, CUgraphNodeParams* params) {
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return driver().kernels.get(node, reinterpret_cast<CUDA_KERNEL_NODE_PARAMS*>(&params->kernel));
    if (params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        const auto get_operations = memory_operation_calls().get;
        if (get_operations == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
        CUDA_BATCH_MEM_OP_NODE_PARAMS found{};
        const CUresult result = get_operations(node, &found);
        put(params->memOp, found);
        return result;
    }
    return answer(get_by_kind(node, *params));
}

// Copies, in the runtime's parameters: the driver's count bytes where these count elements of arrays.

cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaMemcpy3DParms* copy) {
    return cudaGraphAddMemcpyNode(node, graph, nullptr, 0, copy);
}

// Kernels, by a driver without functions for these alone.

CUgraphNodeParams of_any_kind(const CUDA_KERNEL_NODE_PARAMS& kernel) noexcept {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    put(params.kernel, kernel);
    return params;
}
CUresult CUDAAPI add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                            const CUDA_KERNEL_NODE_PARAMS* kernel) {
    CUgraphNodeParams params = of_any_kind(*kernel);
    return driver().graph_add_node(node, graph, after, nullptr, count, &params);
}
CUresult CUDAAPI set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* kernel) {
    CUgraphNodeParams params = of_any_kind(*kernel);
    return driver().graph_node_set_params(node, &params);
}
CUresult CUDAAPI exec_set_kernel(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* kernel) {
    CUgraphNodeParams params = of_any_kind(*kernel);
    return driver().graph_exec_node_set_params(exec, node, &params);
}

template <class F>
F fetched(const char* name) {
    return reinterpret_cast<F>(driver_function(name, oldest_version));
}
const MemoryOperationCalls& memory_operation_calls() {
    using Calls = MemoryOperationCalls;
    static const Calls calls{fetched<decltype(Calls::add)>("cuGraphAddBatchMemOpNode"),
                             fetched<decltype(Calls::get)>("cuGraphBatchMemOpNodeGetParams"),
                             fetched<decltype(Calls::set)>("cuGraphBatchMemOpNodeSetParams"),
                             fetched<decltype(Calls::exec_set)>("cuGraphExecBatchMemOpNodeSetParams")};
    return calls;
}
constexpr FillNodeCalls fills_of_one_kind{cudaGraphAddMemsetNode,           cudaGraphMemsetNodeSetParams,
                                          cudaGraphExecMemsetNodeSetParams, "cudaGraphAddMemsetNode",
                                          "cudaGraphMemsetNodeSetParams",   "cudaGraphExecMemsetNodeSetParams"};
constexpr FillNodeCalls fills_of_any_kind{
    compat::graph_add_fill, compat::graph_fill_set_params, compat::graph_exec_fill_set_params,
    "cudaGraphAddNode",     "cudaGraphNodeSetParams",      "cudaGraphExecNodeSetParams"};

template <class F>
void require(F function, const char* name) {
    if (function == nullptr)
        refuse<Error>(fmt::format("the CUDA driver has no {}", name), {}, cudaErrorInsufficientDriver);
}
/// Fetches a function for kernels. `any` and `by_any` stand in for it, and it for them: of the two, one must be there.
template <class Kernel, class Any>
void fetch(Kernel& kernel, const char*& name, const char* kernel_name, Kernel by_any, Any& any, const char* any_name,
           Any by_kind) {
    kernel = fetched<Kernel>(kernel_name);
    name = kernel != nullptr ? kernel_name : any_name;
    if (any == nullptr) {
        require(kernel, kernel_name);
        any = by_kind;
    }
    if (kernel == nullptr) kernel = by_any;
}

} // namespace

} // namespace old_calls

void complete_node_calls(Driver& driver) {
    KernelNodeCalls& kernels = driver.kernels;
    if (driver.graph_add_node == nullptr) driver.graph_add_copy = old_calls::add_copy;
    old_calls::fetch(kernels.add, kernels.add_name, "cuGraphAddKernelNode", old_calls::add_kernel,
                     driver.graph_add_node, add_node_call, old_calls::add);
    if (driver.graph_node_set_params == nullptr) driver.graph_copy_set_params = cudaGraphMemcpyNodeSetParams;
    old_calls::fetch(kernels.set, kernels.set_name, "cuGraphKernelNodeSetParams", old_calls::set_kernel,
                     driver.graph_node_set_params, set_node_call, old_calls::set);
    if (driver.graph_exec_node_set_params == nullptr)
        driver.graph_exec_copy_set_params = cudaGraphExecMemcpyNodeSetParams;
    old_calls::fetch(kernels.exec_set, kernels.exec_set_name, "cuGraphExecKernelNodeSetParams",
                     old_calls::exec_set_kernel, driver.graph_exec_node_set_params, exec_set_node_call,
                     old_calls::exec_set);
    if (driver.graph_node_get_params == nullptr) {
        kernels.get = old_calls::fetched<decltype(kernels.get)>("cuGraphKernelNodeGetParams");
        old_calls::require(kernels.get, "cuGraphKernelNodeGetParams");
        driver.graph_node_get_params = old_calls::get;
    }
    if (driver.graph_copy_get_params == nullptr) driver.graph_copy_get_params = cudaGraphMemcpyNodeGetParams;
    driver.fills = kernels.add == old_calls::add_kernel ? old_calls::fills_of_any_kind : old_calls::fills_of_one_kind;
}

const char* copy_getter() {
    return driver().graph_copy_get_params == cudaGraphMemcpyNodeGetParams ? "cudaGraphMemcpyNodeGetParams"
                                                                          : "cudaGraphNodeGetParams";
}

OldGetter getter_of(CUgraphNodeType type) {
    if (driver().graph_node_get_params != old_calls::get) return {"cuGraphNodeGetParams", Api::driver};
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return {"cuGraphKernelNodeGetParams", Api::driver};
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return {"cudaGraphMemsetNodeGetParams", Api::runtime};
    case CU_GRAPH_NODE_TYPE_HOST:
        return {"cudaGraphHostNodeGetParams", Api::runtime};
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return {"cudaGraphChildGraphNodeGetGraph", Api::runtime};
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return {"cudaGraphEventRecordNodeGetEvent", Api::runtime};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return {"cudaGraphEventWaitNodeGetEvent", Api::runtime};
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        return {"cudaGraphExternalSemaphoresSignalNodeGetParams", Api::runtime};
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return {"cudaGraphExternalSemaphoresWaitNodeGetParams", Api::runtime};
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return {"cuGraphBatchMemOpNodeGetParams", Api::driver};
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return {"cudaGraphMemAllocNodeGetParams", Api::runtime};
    default:
        return {"cudaGraphMemFreeNodeGetParams", Api::runtime};
    }
}

} // namespace cudag::detail

#pragma GCC diagnostic pop
