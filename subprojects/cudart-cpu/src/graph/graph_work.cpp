// The common defaults of all kinds of nodes.
#include "graph_work.hpp"

#include <cuda.h>

namespace cudart_cpu::detail {

std::string Work::refuse_device_launch() const {
    return text("Device-launched graphs and conditional nodes do not support ", type_name(type()), " nodes");
}

std::optional<BodyRefusal> Work::refuse_in_body() const {
    if (std::string reason = refuse_device_launch(); !reason.empty())
        return BodyRefusal{cudaGraphInstantiateNodeOperationNotSupported, std::move(reason)};
    return std::nullopt;
}

std::optional<Refusal> Work::refuse_node_update(const Work&) const {
    return std::nullopt;
}

std::optional<Refusal> Work::refuse_graph_update(const Work&, bool) const {
    return std::nullopt;
}

const char* type_name(cudaGraphNodeType type) noexcept {
    if (static_cast<int>(type) == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) return "BATCH_MEM_OP"; // the runtime has no name
    switch (type) {
    case cudaGraphNodeTypeKernel:
        return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
        return "MEMCPY";
    case cudaGraphNodeTypeMemset:
        return "MEMSET";
    case cudaGraphNodeTypeHost:
        return "HOST";
    case cudaGraphNodeTypeGraph:
        return "GRAPH";
    case cudaGraphNodeTypeEmpty:
        return "EMPTY";
    case cudaGraphNodeTypeWaitEvent:
        return "WAIT_EVENT";
    case cudaGraphNodeTypeEventRecord:
        return "EVENT_RECORD";
    case cudaGraphNodeTypeExtSemaphoreSignal:
        return "EXT_SEMAS_SIGNAL";
    case cudaGraphNodeTypeExtSemaphoreWait:
        return "EXT_SEMAS_WAIT";
    case cudaGraphNodeTypeMemAlloc:
        return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
        return "MEM_FREE";
    case cudaGraphNodeTypeConditional:
        return "CONDITIONAL";
#if CUDART_VERSION >= 13050
    case cudaGraphNodeTypeMemcpyBatch:
        return "MEMCPY_BATCH";
#endif
    default:
        return "UNKNOWN";
    }
}

} // namespace cudart_cpu::detail
