// The conversion of CUDA's parameter structures into Work, for all kinds of nodes.
#include "graph_params.hpp"

#include "graph_alloc_work.hpp"
#include "graph_child_work.hpp"
#include "graph_conditional_work.hpp"
#include "graph_copy_batch_work.hpp"
#include "graph_event_work.hpp"
#include "graph_host_work.hpp"
#include "graph_mem_op_work.hpp"
#include "graph_memory_work.hpp"
#include "graph_semaphore_work.hpp"
#include "memory/driver_copies.hpp"
#include "runtime/contexts.hpp"
#include "runtime/device_model.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/number_in.hpp"

#include <cstddef>
#include <cstring>
#include <optional>

namespace cudart_cpu::detail {

namespace {

bool all_zero(const void* memory, std::size_t bytes) {
    const auto* begin = static_cast<const unsigned char*>(memory);
    return bytes == 0 || (*begin == 0 && std::memcmp(begin, begin + 1, bytes - 1) == 0); // each byte is like the next
}

/// CUDA requires zeros in all bytes of the union not used by the kind.
void require_unused_zero(const cudaGraphNodeParams& params, std::size_t used) {
    const auto* member = reinterpret_cast<const unsigned char*>(&params.reserved1);
    if (!all_zero(params.reserved0, sizeof params.reserved0) ||
        !all_zero(member + used, sizeof params.reserved1 - used) || params.reserved2 != 0)
        fail(cudaErrorInvalidValue,
             text("unused bytes of the parameters of a ", type_name(params.type), " node are not zero"));
}

/// Converts a member of the union into the older structure, with the same layout. From 13.1 on, some members have
/// additional fields, such as a context to run in, which must be null here.
template <class Old, class New>
Old as_older(const New& params) {
    static_assert(sizeof(Old) <= sizeof(New));
    if (!all_zero(reinterpret_cast<const unsigned char*>(&params) + sizeof(Old), sizeof(New) - sizeof(Old)))
        fail(cudaErrorNotSupported,
             "cudart-cpu: a node with parameters that its kind's older structure lacks, such as ctx");
    Old older;
    std::memcpy(static_cast<void*>(&older), &params, sizeof older);
    return older;
}

std::shared_ptr<Work> host_work(const cudaHostNodeParamsV2& params) {
#if CUDART_VERSION >= 13010
    if (driver_version() < 13010 && params.syncMode != 0)
        fail(cudaErrorInvalidValue, "drivers before CUDA 13.1 have no sync modes of host nodes");
    cudaHostNodeParamsV2 plain = params;
    plain.syncMode = 0;
    return std::make_shared<HostWork>(as_older<cudaHostNodeParams>(plain), params.syncMode);
#else
    return std::make_shared<HostWork>(as_older<cudaHostNodeParams>(params));
#endif
}

void require_type(const cudaGraphNodeParams& params) {
    if (const int type = number_in(params.type); type < cudaGraphNodeTypeKernel || type >= cudaGraphNodeTypeCount)
        fail(cudaErrorInvalidValue, text(type, " is no type of a node"));
}

void require_same_type(const cudaGraphNodeParams& params, const Work& work) {
    if (number_in(params.type) != work.type())
        fail(cudaErrorInvalidValue, text("Parameter type ", number_in(params.type), " does not match node type ",
                                         static_cast<int>(work.type())));
}

/// Makes the work of a kind without graphs of its own.
WorkPointer make_work(const cudaGraphNodeParams& params) {
    switch (params.type) {
    case cudaGraphNodeTypeKernel:
        require_unused_zero(params, sizeof params.kernel);
        return std::make_shared<KernelWork>(kernel_params(as_older<cudaKernelNodeParams>(params.kernel)));
    case cudaGraphNodeTypeMemcpy:
        require_unused_zero(params, sizeof params.memcpy);
        // flags, reserved and, from 13.1 on, the context.
        if (!all_zero(&params.memcpy, offsetof(cudaMemcpyNodeParams, copyParams)))
            fail(cudaErrorInvalidValue, "flags and reserved of a memcpy node must be 0");
        return std::make_shared<MemcpyWork>(params.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        require_unused_zero(params, sizeof params.memset);
        return std::make_shared<MemsetWork>(as_older<cudaMemsetParams>(params.memset));
    case cudaGraphNodeTypeHost:
        require_unused_zero(params, sizeof params.host);
        return host_work(params.host);
    case cudaGraphNodeTypeEmpty:
        require_unused_zero(params, 0);
        return std::make_shared<EmptyWork>();
    case cudaGraphNodeTypeEventRecord:
        require_unused_zero(params, sizeof params.eventRecord);
        return std::make_shared<EventRecordWork>(params.eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        require_unused_zero(params, sizeof params.eventWait);
        return std::make_shared<EventWaitWork>(params.eventWait.event);
    case cudaGraphNodeTypeExtSemaphoreSignal:
        require_unused_zero(params, sizeof params.extSemSignal);
        return std::make_shared<SignalWork>(as_older<cudaExternalSemaphoreSignalNodeParams>(params.extSemSignal));
    case cudaGraphNodeTypeExtSemaphoreWait:
        require_unused_zero(params, sizeof params.extSemWait);
        return std::make_shared<SemaphoreWaitWork>(as_older<cudaExternalSemaphoreWaitNodeParams>(params.extSemWait));
#if CUDART_VERSION >= 13050
    case cudaGraphNodeTypeMemcpyBatch:
        require_unused_zero(params, sizeof params.memcpyBatch);
        return std::make_shared<CopyBatchWork>(params.memcpyBatch);
#endif
    default:
        refuse_kind(params.type);
    }
}

} // namespace

KernelParams kernel_params(const cudaKernelNodeParams& params) {
    return {kernel_of(params.func, cudaErrorInvalidResourceHandle, Forms::symbol_or_kernel),
            params.gridDim,
            params.blockDim,
            params.sharedMemBytes,
            params.kernelParams,
            params.extra};
}

KernelParams kernel_params(const CUDA_KERNEL_NODE_PARAMS_v2& params) {
    const void* function = params.func ? static_cast<const void*>(params.func) : params.kern;
    std::optional<CUcontext> context;
    std::optional<int> device;
    if (params.func) {
        device = device_of_function(params.func);
    } else if (params.ctx) { // ignored beside a function
        context = separate_context(params.ctx);
        device = context_of(params.ctx).device;
    }
    if (!function) fail(cudaErrorInvalidResourceHandle, "func and kern of a kernel node are both NULL");
    return {kernel_of(function),
            {params.gridDimX, params.gridDimY, params.gridDimZ},
            {params.blockDimX, params.blockDimY, params.blockDimZ},
            params.sharedMemBytes,
            params.kernelParams,
            params.extra,
            context,
            device};
}

namespace {

/// The context of a new kernel node, whose device is current. That of other new nodes is of the caller's device.
CUcontext context_for_kernel(const KernelParams& params, const OnDevice& device) noexcept {
    return params.context.value_or(current_device() == device.outer() ? context_for_nodes() : nullptr);
}

} // namespace

WorkPointer make_kernel_work(const KernelParams& params) {
    const OnDevice device(params.device.value_or(current_device()));
    const NodesInContext context(context_for_kernel(params, device));
    return std::make_shared<KernelWork>(params);
}

WorkPointer make_kernel_work(const KernelParams& params, const Work& current) {
    const OnDevice device(params.device.value_or(current_device()));
    const NodesInContext context(context_for_kernel(params, device));
    return std::make_shared<KernelWork>(params, static_cast<const KernelWork&>(current).attributes());
}

const KernelWork& shown_kernel(Node& node) {
    const auto& work = work_of<KernelWork>(node);
    if (!node.shown) node.shown = std::make_shared<KernelWork>(work, work.attributes());
    return static_cast<const KernelWork&>(*node.shown);
}

NodeContent make_content(cudaGraphNodeParams& params, const Graph& target, const std::vector<Node*>& before) {
    require_type(params);
    switch (params.type) {
    case cudaGraphNodeTypeGraph:
        require_unused_zero(params, sizeof params.graph);
        return child_content(params.graph, target);
    case cudaGraphNodeTypeConditional:
        require_unused_zero(params, sizeof params.conditional);
        return conditional_content(params.conditional, target);
    case cudaGraphNodeTypeMemAlloc: {
        require_unused_zero(params, sizeof params.alloc);
        const auto work = make_alloc_work(as_older<cudaMemAllocNodeParams>(params.alloc), target, before);
        params.alloc.dptr = work->address();
        return work;
    }
    case cudaGraphNodeTypeMemFree:
        require_unused_zero(params, sizeof params.free);
        return make_free_work(params.free.dptr, target);
    default:
        return make_work(params);
    }
}

NodeContent make_content(const cudaGraphNodeParams& params, const Node& node) {
    require_same_type(params, *node.work);
    if (params.type == cudaGraphNodeTypeGraph) {
        require_unused_zero(params, sizeof params.graph);
        return child_content(params.graph, node.graph);
    }
    return make_work(params, *node.work);
}

WorkPointer make_work(const cudaGraphNodeParams& params, const Work& current) {
    require_same_type(params, current);
    if (params.type == cudaGraphNodeTypeMemAlloc || params.type == cudaGraphNodeTypeMemFree ||
        params.type == cudaGraphNodeTypeConditional)
        fail(cudaErrorNotSupported, text("the parameters of ", type_name(params.type), " nodes cannot be changed"));
    if (params.type != cudaGraphNodeTypeKernel) return make_work(params);
    require_unused_zero(params, sizeof params.kernel);
    return make_kernel_work(kernel_params(as_older<cudaKernelNodeParams>(params.kernel)), current);
}

namespace {

/// Copies an older structure into a member of the union, which may have additional fields.
template <class New, class Old>
void put(New& member, const Old& older) {
    static_assert(sizeof(Old) <= sizeof(New));
    std::memcpy(static_cast<void*>(&member), &older, sizeof older);
}

} // namespace

cudaGraphNodeParams params_of(Node& node) {
    const Work& work = *node.work;
    cudaGraphNodeParams params{};
    params.type = work.type();
    switch (params.type) {
    case cudaGraphNodeTypeKernel:
        put(params.kernel, kernel_params_of(node));
        break;
    case cudaGraphNodeTypeMemcpy:
        params.memcpy.copyParams = work_as<MemcpyWork>(work).params();
        break;
    case cudaGraphNodeTypeMemset:
        put(params.memset, work_as<MemsetWork>(work).params());
        break;
    case cudaGraphNodeTypeHost:
        put(params.host, work_as<HostWork>(work).params());
#if CUDART_VERSION >= 13010
        params.host.syncMode = work_as<HostWork>(work).sync_mode();
#endif
        break;
    case cudaGraphNodeTypeGraph:
        params.graph.graph = node.bodies.front()->handle();
        break;
    case cudaGraphNodeTypeWaitEvent:
        params.eventWait.event = work_as<EventWaitWork>(work).event();
        break;
    case cudaGraphNodeTypeEventRecord:
        params.eventRecord.event = work_as<EventRecordWork>(work).event();
        break;
    case cudaGraphNodeTypeExtSemaphoreSignal:
        put(params.extSemSignal, work_as<SignalWork>(work).params());
        break;
    case cudaGraphNodeTypeExtSemaphoreWait:
        put(params.extSemWait, work_as<SemaphoreWaitWork>(work).params());
        break;
    case cudaGraphNodeTypeMemAlloc:
        put(params.alloc, work_as<AllocWork>(work).params());
        break;
    case cudaGraphNodeTypeMemFree:
        params.free.dptr = work_as<FreeWork>(work).address();
        break;
#if CUDART_VERSION >= 13050
    case cudaGraphNodeTypeMemcpyBatch:
        params.memcpyBatch = work_as<CopyBatchWork>(work).params();
        break;
#endif
    case cudaGraphNodeTypeConditional: {
        const auto& conditional = work_as<ConditionalWork>(work);
        params.conditional.handle = conditional.handle();
        params.conditional.type = conditional.kind();
        params.conditional.size = conditional.size();
        params.conditional.phGraph_out = node.body_handles.data();
        break;
    }
    default: // an empty node has none
        break;
    }
    return params;
}

cudaKernelNodeParams kernel_params_of(Node& node) {
    const KernelWork& work = shown_kernel(node);
    if (work.kernel().is_of_library) fail(cudaErrorInvalidDeviceFunction, {}); // it has no symbol
    return {const_cast<void*>(work.kernel().symbol),
            work.grid(),
            work.block(),
            work.shared_bytes(),
            work.arguments().params(),
            work.arguments().extra()};
}

namespace {

static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v3) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS) == sizeof(cudaExternalSemaphoreSignalParams));
static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS) == sizeof(cudaExternalSemaphoreWaitParams));
static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
#if CUDART_VERSION >= 13050
static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
#endif

/// Converts the driver's parameters of any kind but a kernel, whose members are the runtime's under other names. The
/// contexts in which nodes run have no meaning here.
cudaGraphNodeParams runtime_params(const CUgraphNodeParams& params) {
    if (params.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        cudaGraphNodeParams copy{};
        std::memcpy(static_cast<void*>(&copy), &params, sizeof copy);
        require_unused_zero(copy, sizeof params.memcpy);
        copy = {};
        copy.type = cudaGraphNodeTypeMemcpy;
        copy.memcpy.flags = params.memcpy.flags;
        copy.memcpy.copyParams = runtime_copy(params.memcpy.copyParams);
        return copy;
    }
    CUgraphNodeParams plain = params;
    if (params.type == CU_GRAPH_NODE_TYPE_MEMSET) plain.memset.ctx = nullptr;
    if (params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) plain.conditional.ctx = nullptr;
#if CUDART_VERSION >= 13050
    if (params.type == CU_GRAPH_NODE_TYPE_MEMCPY_BATCH) plain.memcpyBatch.ctx = nullptr;
#endif
    cudaGraphNodeParams result{};
    std::memcpy(static_cast<void*>(&result), &plain, sizeof result);
    return result;
}

/// The driver's parameters of a kernel, if these are such.
std::optional<KernelParams> driver_kernel_params(const CUgraphNodeParams& params) {
    if (params.type != CU_GRAPH_NODE_TYPE_KERNEL) return std::nullopt;
    cudaGraphNodeParams bytes{};
    std::memcpy(static_cast<void*>(&bytes), &params, sizeof bytes);
    require_unused_zero(bytes, sizeof params.kernel);
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    std::memcpy(static_cast<void*>(&kernel), &params.kernel, sizeof kernel);
    return kernel_params(kernel);
}

/// Memory operations, which only the driver has; null if these parameters are of another kind.
WorkPointer driver_mem_ops(const CUgraphNodeParams& params) {
    if (params.type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) return nullptr;
    cudaGraphNodeParams bytes{};
    std::memcpy(static_cast<void*>(&bytes), &params, sizeof bytes);
    require_unused_zero(bytes, sizeof params.memOp);
    return std::make_shared<MemOpWork>(params.memOp);
}
WorkPointer driver_mem_ops(const CUgraphNodeParams& params, const Work& current) {
    WorkPointer work = driver_mem_ops(params);
    if (work) work_as<MemOpWork>(current);
    return work;
}

/// The context of a node: its own, or else the primary one of its device, as which `current` counts on this device.
CUcontext context_of_work(const Work& work, CUcontext current) {
    if (work.context() != nullptr) return work.context();
    return work.device() == current_device() ? current : primary_context(work.device());
}

} // namespace

NodeContent make_content(CUgraphNodeParams& params, const Graph& target, const std::vector<Node*>& before) {
    if (const auto kernel = driver_kernel_params(params)) return make_kernel_work(*kernel);
    if (WorkPointer work = driver_mem_ops(params)) return work;
    cudaGraphNodeParams converted = runtime_params(params);
    NodeContent content = make_content(converted, target, before);
    if (params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        params.alloc.dptr = reinterpret_cast<CUdeviceptr>(converted.alloc.dptr);
    return content;
}

NodeContent make_content(const CUgraphNodeParams& params, const Node& node) {
    if (const auto kernel = driver_kernel_params(params)) return make_kernel_work(*kernel, work_of<KernelWork>(node));
    if (WorkPointer work = driver_mem_ops(params, *node.work)) return work;
    return make_content(runtime_params(params), node);
}

WorkPointer make_work(const CUgraphNodeParams& params, const Work& current) {
    if (const auto kernel = driver_kernel_params(params))
        return make_kernel_work(*kernel, work_as<KernelWork>(current));
    if (WorkPointer work = driver_mem_ops(params, current)) return work;
    return make_work(runtime_params(params), current);
}

CUgraphNodeParams driver_params_of(Node& node, CUcontext current) {
    const CUcontext context = context_of_work(*node.work, current);
    CUgraphNodeParams params{};
    if (node.work->type() == cudaGraphNodeTypeKernel) {
        params.type = CU_GRAPH_NODE_TYPE_KERNEL;
        put(params.kernel, driver_kernel_params_of(node, context));
        return params;
    }
    if (node.work->type() == MemOpWork::node_type) {
        params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
        params.memOp = work_of<MemOpWork>(node).params();
        return params;
    }
    const cudaGraphNodeParams found = params_of(node);
    if (node.work->type() == cudaGraphNodeTypeMemcpy) {
        params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
        params.memcpy.copyCtx = context;
        params.memcpy.copyParams = driver_copy(found.memcpy.copyParams);
        return params;
    }
    std::memcpy(static_cast<void*>(&params), &found, sizeof params);
    if (params.type == CU_GRAPH_NODE_TYPE_MEMSET) params.memset.ctx = context;
    if (params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) params.conditional.ctx = context;
#if CUDART_VERSION >= 13050
    if (params.type == CU_GRAPH_NODE_TYPE_MEMCPY_BATCH) params.memcpyBatch.ctx = context;
#endif
    return params;
}

CUDA_KERNEL_NODE_PARAMS_v2 driver_kernel_params_of(Node& node, CUcontext current) {
    const CUcontext context = context_of_work(*node.work, current);
    const KernelWork& work = shown_kernel(node);
    return {function_of(work.kernel(), work.device()),
            work.grid().x,
            work.grid().y,
            work.grid().z,
            work.block().x,
            work.block().y,
            work.block().z,
            work.shared_bytes(),
            work.arguments().params(),
            work.arguments().extra(),
            reinterpret_cast<CUkernel>(const_cast<KernelEntry*>(&work.kernel())),
            context};
}

void refuse_kind(cudaGraphNodeType type) {
    fail(cudaErrorNotSupported, text("cudart-cpu does not support ", type_name(type), " nodes"));
}

void require_valid_edge(const cudaGraphEdgeData& data, EdgeEnds ends, std::size_t index) {
    const bool clean = data.to_port == 0 && all_zero(data.reserved, sizeof data.reserved);
    const bool begun = data.from_port == cudaGraphKernelNodePortLaunchCompletion;
    const bool triggered = data.from_port == cudaGraphKernelNodePortProgrammatic;
    const bool from_kernel = ends.from == cudaGraphNodeTypeKernel;
    // Any node may wait for the beginning of a kernel; only a kernel can then wait for more.
    const bool ordinary = data.type == cudaGraphDependencyTypeDefault &&
                          (data.from_port == cudaGraphKernelNodePortDefault || (begun && from_kernel));
    const bool programmatic = data.type == cudaGraphDependencyTypeProgrammatic && (begun || triggered) && from_kernel &&
                              ends.to == cudaGraphNodeTypeKernel;
    if (clean && (ordinary || programmatic)) return;
    fail(cudaErrorInvalidValue, text("Index ", index, ": edge data is invalid: from_port ", int{data.from_port},
                                     ", to_port ", int{data.to_port}, ", type ", int{data.type}, " between a ",
                                     type_name(ends.from), " and a ", type_name(ends.to), " node"));
}

void set_node_attribute(cudaGraphNode_t handle, int id, const cudaLaunchAttributeValue* value) {
    require_pointer(value, "value");
    Node& node = node_of(handle);
    const auto& work = work_of<KernelWork>(node);
    KernelAttributes attributes = work.attributes();
    set_attribute(attributes, id, *value);
    node.work = std::make_shared<KernelWork>(work, attributes);
    // The handle is returned in the value despite its const, as by the driver.
    if (id == cudaLaunchAttributeDeviceUpdatableKernelNode)
        get_attribute(attributes, id, const_cast<cudaLaunchAttributeValue&>(*value));
}

void get_node_attribute(cudaGraphNode_t node, int id, cudaLaunchAttributeValue* value) {
    require_pointer(value, "value_out");
    get_attribute(work_of<KernelWork>(node_of(node)).attributes(), id, *value);
}

} // namespace cudart_cpu::detail
