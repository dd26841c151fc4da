// Reads what nodes do that were made without cudag.
#include "node_reader.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "owners/host_call.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

namespace cudag::detail {

namespace {

/// Parameter `index` of `function`; nothing past the last one. Throws GraphError if CUDA does not tell.
std::optional<Parameter> parameter_of(CUfunction function, std::size_t index) {
    std::size_t offset = 0;
    std::size_t size = 0;
    CUresult result = driver().func_get_param_info(function, index, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) { // the end of the list, or a failure; but only the end is there again
        result = driver().func_get_param_info(function, index, &offset, &size);
        if (result == CUDA_ERROR_INVALID_VALUE) return std::nullopt;
    }
    if (result == CUDA_SUCCESS) return Parameter{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
    raise_call<GraphError>(to_runtime(result), "cuFuncGetParamInfo", {kernel_name(function)}, Api::driver);
}

/// The driver knows a function's parameters, so the arguments can be read without its C++ type.
const KernelSignature* signature_of(GraphState& graph, CUfunction function) {
    std::vector<Parameter> found;
    while (const std::optional<Parameter> parameter = parameter_of(function, found.size()))
        found.push_back(*parameter);
    auto* parameters = graph.memory().allocate<Parameter>(found.size());
    std::copy(found.begin(), found.end(), parameters);
    const std::uint32_t bytes = found.empty() ? 0 : found.back().offset + found.back().size;
    return graph.memory().store(KernelSignature{parameters, static_cast<std::uint32_t>(found.size()), bytes});
}

void copy_values(const KernelSignature& signature, void* const* arguments, std::byte* values) {
    for (std::uint32_t i = 0; i < signature.count; ++i)
        std::memcpy(values + signature.parameters[i].offset, arguments[i], signature.parameters[i].size);
}

/// Of a launch that gave its arguments as one block, in the layout that `values` has, too.
void copy_buffer(const KernelSignature& signature, void* const* extra, std::byte* values) {
    const void* buffer = nullptr;
    std::size_t bytes = 0;
    for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *static_cast<const std::size_t*>(extra[1]);
    std::memset(values, 0, signature.bytes);
    if (buffer != nullptr) std::memcpy(values, buffer, std::min<std::size_t>(bytes, signature.bytes));
}

} // namespace

NodeReader::NodeReader(GraphState& graph, std::vector<GraphAllocation>& allocations)
    : graph_(graph), allocations_(allocations) {
    bind_context();
}

NodeParams NodeReader::read(cudaGraphNode_t node, NodeKind kind, std::uint32_t index) {
    switch (kind) {
    case NodeKind::kernel:
        return kernel(node);
    case NodeKind::memcpy:
        return memcpy(node);
    case NodeKind::memset:
        return memset(node);
    case NodeKind::host:
        return host(node);
    case NodeKind::record_event:
        return recorded_event(node);
    case NodeKind::wait_event:
        return awaited_event(node);
    case NodeKind::signal_semaphore: {
        cudaExternalSemaphoreSignalNodeParams native{};
        checked<GraphError>(cudaGraphExternalSemaphoresSignalNodeGetParams(node, &native),
                            "cudaGraphExternalSemaphoresSignalNodeGetParams");
        return semaphores(native, true);
    }
    case NodeKind::wait_semaphore: {
        cudaExternalSemaphoreWaitNodeParams native{};
        checked<GraphError>(cudaGraphExternalSemaphoresWaitNodeGetParams(node, &native),
                            "cudaGraphExternalSemaphoresWaitNodeGetParams");
        return semaphores(native, false);
    }
    case NodeKind::alloc:
        return alloc(node, index);
    case NodeKind::free:
        return free(node, index);
    default:
        return std::monostate();
    }
}

NodeParams NodeReader::kernel(cudaGraphNode_t node) {
    CUDA_KERNEL_NODE_PARAMS native{};
    checked_driver<GraphError>(driver().graph_kernel_node_get_params(node, &native), "cuGraphKernelNodeGetParams");
    const KernelSignature& signature = signature_in_graph(native.func);
    auto* memory = graph_.memory().allocate_bytes(sizeof(KernelParams) + signature.bytes);
    std::byte* values = memory + sizeof(KernelParams);
    if (native.kernelParams != nullptr)
        copy_values(signature, native.kernelParams, values);
    else
        copy_buffer(signature, native.extra, values);
    const KernelParams* params = new (memory) KernelParams{native.func,
                                                           nullptr,
                                                           &signature,
                                                           {{native.gridDimX, native.gridDimY, native.gridDimZ},
                                                            {native.blockDimX, native.blockDimY, native.blockDimZ},
                                                            native.sharedMemBytes},
                                                           values,
                                                           native.kern,
                                                           nullptr,
                                                           node};
    return params;
}

const KernelSignature& NodeReader::signature_in_graph(CUfunction function) {
    if (function != last_function_) { // most graphs launch one kernel many times in a row
        const KernelSignature*& signature = signatures_[function];
        if (signature == nullptr) signature = signature_of(graph_, function);
        last_signature_ = signature;
        last_function_ = function;
    }
    return *last_signature_;
}

NodeParams NodeReader::memcpy(cudaGraphNode_t node) {
    cudaMemcpy3DParms native{};
    checked<GraphError>(cudaGraphMemcpyNodeGetParams(node, &native), "cudaGraphMemcpyNodeGetParams");
    const bool is_1d = native.srcArray == nullptr && native.dstArray == nullptr && native.extent.height == 1 &&
                       native.extent.depth == 1;
    if (!is_1d) return graph_.memory().store(native);
    return graph_.memory().store(CopyParams{static_cast<char*>(native.dstPtr.ptr) + native.dstPos.x,
                                            static_cast<const char*>(native.srcPtr.ptr) + native.srcPos.x,
                                            native.extent.width, native.extent.width, 1, native.kind});
}

NodeParams NodeReader::memset(cudaGraphNode_t node) {
    cudaMemsetParams native{};
    checked<GraphError>(cudaGraphMemsetNodeGetParams(node, &native), "cudaGraphMemsetNodeGetParams");
    return graph_.memory().store(
        SetParams{native.dst, native.width, native.elementSize, native.value, native.height, native.pitch});
}

NodeParams NodeReader::host(cudaGraphNode_t node) {
    cudaHostNodeParams native{};
    checked<GraphError>(cudaGraphHostNodeGetParams(node, &native), "cudaGraphHostNodeGetParams");
    if (is_host_task(native)) graph_.special().host_tasks = true; // of a clone that CUDA made of a graph of cudag's
    return graph_.memory().store(native);
}

NodeParams NodeReader::recorded_event(cudaGraphNode_t node) {
    cudaEvent_t event = nullptr;
    checked<GraphError>(cudaGraphEventRecordNodeGetEvent(node, &event), "cudaGraphEventRecordNodeGetEvent");
    return graph_.memory().store(EventParams{event, true});
}

NodeParams NodeReader::awaited_event(cudaGraphNode_t node) {
    cudaEvent_t event = nullptr;
    checked<GraphError>(cudaGraphEventWaitNodeGetEvent(node, &event), "cudaGraphEventWaitNodeGetEvent");
    return graph_.memory().store(EventParams{event, false});
}

template <class Native>
NodeParams NodeReader::semaphores(const Native& native, bool signals) {
    auto* list = graph_.memory().allocate<SemaphoreOperation>(native.numExtSems);
    for (unsigned i = 0; i < native.numExtSems; ++i)
        list[i] = {native.extSemArray[i], native.paramsArray[i].params.fence.value};
    return graph_.memory().store(SemaphoreParams{signals, native.numExtSems, list});
}

NodeParams NodeReader::alloc(cudaGraphNode_t node, std::uint32_t index) {
    cudaMemAllocNodeParams native{};
    checked<GraphError>(cudaGraphMemAllocNodeGetParams(node, &native), "cudaGraphMemAllocNodeGetParams");
    allocations_.push_back({reinterpret_cast<std::uintptr_t>(native.dptr), native.bytesize, index});
    return graph_.memory().store(AllocParams{native.dptr, native.bytesize, native.poolProps.location.id});
}

NodeParams NodeReader::free(cudaGraphNode_t node, std::uint32_t index) {
    void* address = nullptr;
    checked<GraphError>(cudaGraphMemFreeNodeGetParams(node, &address), "cudaGraphMemFreeNodeGetParams");
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    auto& known = allocations_;
    for (; indexed_ < known.size(); ++indexed_)
        latest_[known[indexed_].address] = indexed_; // the one before it there has been freed
    const auto memory = latest_.find(place);
    if (memory != latest_.end() && !known[memory->second].free)
        known[memory->second].free = index;
    else
        known.push_back({place, 1, std::nullopt, index});
    return graph_.memory().store(FreeParams{address});
}

} // namespace cudag::detail
