// The driver's functions for memory operations, in streams and in graphs.
#include "driver_functions.hpp"

#include "capture/capture.hpp"
#include "exec/exec_model.hpp"
#include "graph/graph_mem_op_work.hpp"
#include "graph/graph_model.hpp"
#include "runtime/call.hpp"
#include "stream/stream.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace cudart_cpu::detail::driver {

namespace {

CUresult submit_mem_ops(const char* name, CUstream stream, const CUstreamBatchMemOpParams* operations, unsigned count,
                        unsigned flags) noexcept {
    return static_cast<CUresult>(driver_api(name, [&] {
        Stream& target = stream_of(stream);
        MemOps checked(operations, count, flags);
        CUcontext context = nullptr;
        stream_get_ctx(stream, &context);
        const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 node{context, count, const_cast<CUstreamBatchMemOpParams*>(operations),
                                                    flags};
        if (captured(target, [&](auto&&...) { return std::make_shared<MemOpWork>(node); })) return;
        checked.require_memory();
        enqueue(target, [list = std::move(checked)] { list.run(); });
    }));
}

CUstreamBatchMemOpParams wait_of(CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value, unsigned flags) {
    CUstreamBatchMemOpParams params{};
    params.waitValue.operation = type;
    params.waitValue.address = address;
    params.waitValue.value64 = value;
    params.waitValue.flags = flags;
    return params;
}
CUstreamBatchMemOpParams write_of(CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value, unsigned flags) {
    CUstreamBatchMemOpParams params{};
    params.writeValue.operation = type;
    params.writeValue.address = address;
    params.writeValue.value64 = value;
    params.writeValue.flags = flags;
    return params;
}

// Other than the functions for any kind, these take the older structure, of the same layout.
static_assert(sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS) == sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS_v2));
WorkPointer mem_op_work(const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    require_pointer(params, "nodeParams");
    return std::make_shared<MemOpWork>(
        CUDA_BATCH_MEM_OP_NODE_PARAMS_v2{params->ctx, params->count, params->paramArray, params->flags});
}

template <class Body>
CUresult mem_op_node_api(const char* name, Body&& body) noexcept {
    return static_cast<CUresult>(driver_api(name, [&] {
        const std::lock_guard lock(graph_mutex());
        body();
    }));
}

} // namespace

CUresult stream_wait_value_32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
    const auto operation = wait_of(CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
    return submit_mem_ops("cuStreamWaitValue32", stream, &operation, 1, 0);
}
CUresult stream_wait_value_64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
    const auto operation = wait_of(CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
    return submit_mem_ops("cuStreamWaitValue64", stream, &operation, 1, 0);
}
CUresult stream_write_value_32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
    const auto operation = write_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
    return submit_mem_ops("cuStreamWriteValue32", stream, &operation, 1, 0);
}
CUresult stream_write_value_64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
    const auto operation = write_of(CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
    return submit_mem_ops("cuStreamWriteValue64", stream, &operation, 1, 0);
}
CUresult stream_batch_mem_op(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
    return submit_mem_ops("cuStreamBatchMemOp", stream, operations, count, flags);
}

CUresult graph_add_batch_mem_op_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies,
                                     std::size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    return mem_op_node_api("cuGraphAddBatchMemOpNode", [&] {
        require_pointer(added, "phGraphNode");
        WorkPointer work = mem_op_work(params);
        Graph& target = graph_of(graph);
        *added = target.add(std::move(work), dependencies_of(target, dependencies, count)).handle;
    });
}
CUresult graph_batch_mem_op_node_get_params(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    return mem_op_node_api("cuGraphBatchMemOpNodeGetParams", [&] {
        require_pointer(params, "nodeParams_out");
        const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 found = work_of<MemOpWork>(node_of(node)).params();
        *params = {found.ctx, found.count, found.paramArray, found.flags};
    });
}
CUresult graph_batch_mem_op_node_set_params(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    return mem_op_node_api("cuGraphBatchMemOpNodeSetParams", [&] {
        WorkPointer work = mem_op_work(params);
        Node& target = node_of(node);
        work_of<MemOpWork>(target);
        target.set_work(std::move(work));
    });
}
CUresult graph_exec_batch_mem_op_node_set_params(CUgraphExec handle, CUgraphNode node,
                                                 const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    return mem_op_node_api("cuGraphExecBatchMemOpNodeSetParams", [&] {
        WorkPointer work = mem_op_work(params);
        Exec& exec = exec_of(handle);
        NodeState& state = exec.state_of(node);
        work_as<MemOpWork>(*state.work);
        exec.update_work(state, std::move(work));
    });
}

} // namespace cudart_cpu::detail::driver
