// CUDA's setters of node parameters, by kind.
#include "native_params.hpp"

#include "cuda/compat.hpp"
#include "cuda/driver.hpp"
#include "launch_check.hpp"
#include "semaphore_params.hpp"

#include <utility>

namespace cudag::detail {

namespace {

/// A node that has parameters, but none that CUDA can set.
constexpr NativeResult cannot_be_set{cudaErrorNotSupported, "update", Api::runtime};

struct SetInGraph {
    cudaGraphNode_t node;

    NativeResult operator()(std::monostate) const { return cannot_be_set; }
    NativeResult operator()(const ConditionalParams*) const { return cannot_be_set; }
    NativeResult operator()(const KernelParams* kernel) const {
        const ArgumentPointers arguments(*kernel);
        return set_native_kernel(node, driver_params(kernel->function, kernel->shape, arguments.get()));
    }
    NativeResult operator()(const CopyParams* copy) const {
        return {cudaGraphMemcpyNodeSetParams1D(node, copy->destination, copy->source,
                                               copy->source_size * copy->element_bytes, copy->kind),
                "cudaGraphMemcpyNodeSetParams1D", Api::runtime};
    }
    NativeResult operator()(const cudaMemcpy3DParms* copy) const {
        return {cudaGraphMemcpyNodeSetParams(node, copy), "cudaGraphMemcpyNodeSetParams", Api::runtime};
    }
    NativeResult operator()(const SetParams* set) const {
        const cudaMemsetParams native = runtime_params(*set);
        return {cudaGraphMemsetNodeSetParams(node, &native), "cudaGraphMemsetNodeSetParams", Api::runtime};
    }
    NativeResult operator()(const cudaHostNodeParams* host) const {
        return {cudaGraphHostNodeSetParams(node, host), "cudaGraphHostNodeSetParams", Api::runtime};
    }
    NativeResult operator()(const SemaphoreParams* semaphores) const {
        if (semaphores->signals)
            return {cudaGraphExternalSemaphoresSignalNodeSetParams(node, NativeSignals(semaphores->list()).get()),
                    "cudaGraphExternalSemaphoresSignalNodeSetParams", Api::runtime};
        return {cudaGraphExternalSemaphoresWaitNodeSetParams(node, NativeWaits(semaphores->list()).get()),
                "cudaGraphExternalSemaphoresWaitNodeSetParams", Api::runtime};
    }
    NativeResult operator()(const AllocParams*) const { return cannot_be_set; }
    NativeResult operator()(const FreeParams*) const { return cannot_be_set; }
    NativeResult operator()(const EventParams* event) const {
        if (event->records)
            return {cudaGraphEventRecordNodeSetEvent(node, event->event), "cudaGraphEventRecordNodeSetEvent",
                    Api::runtime};
        return {cudaGraphEventWaitNodeSetEvent(node, event->event), "cudaGraphEventWaitNodeSetEvent", Api::runtime};
    }
};

struct SetInExec {
    cudaGraphExec_t exec;
    cudaGraphNode_t node;

    NativeResult operator()(std::monostate) const { return cannot_be_set; }
    NativeResult operator()(const ConditionalParams*) const { return cannot_be_set; }
    NativeResult operator()(const KernelParams* kernel) const {
        const ArgumentPointers arguments(*kernel);
        return set_native_kernel(exec, node, driver_params(kernel->function, kernel->shape, arguments.get()));
    }
    NativeResult operator()(const CopyParams* copy) const {
        return {cudaGraphExecMemcpyNodeSetParams1D(exec, node, copy->destination, copy->source,
                                                   copy->source_size * copy->element_bytes, copy->kind),
                "cudaGraphExecMemcpyNodeSetParams1D", Api::runtime};
    }
    NativeResult operator()(const cudaMemcpy3DParms* copy) const {
        return {cudaGraphExecMemcpyNodeSetParams(exec, node, copy), "cudaGraphExecMemcpyNodeSetParams", Api::runtime};
    }
    NativeResult operator()(const SetParams* set) const {
        const cudaMemsetParams native = runtime_params(*set);
        return {cudaGraphExecMemsetNodeSetParams(exec, node, &native), "cudaGraphExecMemsetNodeSetParams",
                Api::runtime};
    }
    NativeResult operator()(const cudaHostNodeParams* host) const {
        return {cudaGraphExecHostNodeSetParams(exec, node, host), "cudaGraphExecHostNodeSetParams", Api::runtime};
    }
    NativeResult operator()(const SemaphoreParams* semaphores) const {
        if (semaphores->signals)
            return {
                cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, NativeSignals(semaphores->list()).get()),
                "cudaGraphExecExternalSemaphoresSignalNodeSetParams", Api::runtime};
        return {cudaGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, NativeWaits(semaphores->list()).get()),
                "cudaGraphExecExternalSemaphoresWaitNodeSetParams", Api::runtime};
    }
    NativeResult operator()(const AllocParams*) const { return cannot_be_set; }
    NativeResult operator()(const FreeParams*) const { return cannot_be_set; }
    NativeResult operator()(const EventParams* event) const {
        if (event->records)
            return {cudaGraphExecEventRecordNodeSetEvent(exec, node, event->event),
                    "cudaGraphExecEventRecordNodeSetEvent", Api::runtime};
        return {cudaGraphExecEventWaitNodeSetEvent(exec, node, event->event), "cudaGraphExecEventWaitNodeSetEvent",
                Api::runtime};
    }
};

} // namespace

NativeResult set_native_params(cudaGraphNode_t node, const NodeParams& params) {
    return std::visit(SetInGraph{node}, params);
}
NativeResult set_native_params(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params) {
    return std::visit(SetInExec{exec, node}, params);
}

NativeResult set_native_kernel(cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& params) {
    return {to_runtime(driver().graph_kernel_node_set_params(node, &params)), "cuGraphKernelNodeSetParams",
            Api::driver};
}
NativeResult set_native_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& params) {
    return {to_runtime(driver().graph_exec_kernel_node_set_params(exec, node, &params)),
            "cuGraphExecKernelNodeSetParams", Api::driver};
}

void raise_update(const NativeResult& result, const NodeParams& params, Subject&& subject) {
    if (const auto* kernel = std::get_if<const KernelParams*>(&params))
        raise_launch<UpdateError>(result.status, result.operation, std::move(subject), result.api, config_of(**kernel),
                                  (*kernel)->symbol);
    raise_call<UpdateError>(result.status, result.operation, std::move(subject), result.api);
}

} // namespace cudag::detail
