// The driver's functions returned by cudaGetDriverEntryPoint. They leave the runtime's last error alone.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace cudart_cpu::detail::driver {

CUresult graph_add_kernel_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_KERNEL_NODE_PARAMS_v2* params);
CUresult graph_get_nodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count);
CUresult graph_node_get_type(CUgraphNode node, CUgraphNodeType* type);
CUresult graph_node_get_dependencies(CUgraphNode node, CUgraphNode* dependencies, CUgraphEdgeData* data,
                                     std::size_t* count);

CUresult graph_add_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                        std::size_t count, CUgraphNodeParams* params);
CUresult graph_node_set_params(CUgraphNode node, CUgraphNodeParams* params);
CUresult graph_exec_node_set_params(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params);
CUresult graph_node_get_params(CUgraphNode node, CUgraphNodeParams* params);
CUresult graph_kernel_node_get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* params);
CUresult graph_kernel_node_set_params(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* params);
CUresult graph_kernel_node_get_attribute(CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value);
CUresult graph_kernel_node_set_attribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                         const CUkernelNodeAttrValue* value);
CUresult graph_exec_kernel_node_set_params(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* params);

CUresult graph_conditional_handle_create(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context,
                                         unsigned initial, unsigned flags);

CUresult graph_instantiate_with_params(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params);
CUresult graph_exec_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* result);
CUresult graph_launch(CUgraphExec exec, CUstream stream);

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params,
                       void** extra);
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction function, void** params, void** extra);
CUresult stream_is_capturing(CUstream stream, CUstreamCaptureStatus* status);

CUresult kernel_get_function(CUfunction* function, CUkernel kernel);
CUresult func_get_name(const char** name, CUfunction function);
CUresult func_get_attribute(int* value, CUfunction_attribute attribute, CUfunction function);
CUresult func_get_param_count(CUfunction function, std::size_t* count);
CUresult func_get_param_info(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size);

CUresult memset_d8_async(CUdeviceptr destination, unsigned char value, std::size_t count, CUstream stream);
CUresult memset_d16_async(CUdeviceptr destination, unsigned short value, std::size_t count, CUstream stream);
CUresult memset_d32_async(CUdeviceptr destination, unsigned value, std::size_t count, CUstream stream);
CUresult memset_2d_d8_async(CUdeviceptr destination, std::size_t pitch, unsigned char value, std::size_t width,
                            std::size_t height, CUstream stream);
CUresult memset_2d_d16_async(CUdeviceptr destination, std::size_t pitch, unsigned short value, std::size_t width,
                             std::size_t height, CUstream stream);
CUresult memset_2d_d32_async(CUdeviceptr destination, std::size_t pitch, unsigned value, std::size_t width,
                             std::size_t height, CUstream stream);

CUresult stream_wait_value_32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags);
CUresult stream_wait_value_64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags);
CUresult stream_write_value_32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags);
CUresult stream_write_value_64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags);
CUresult stream_batch_mem_op(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags);
CUresult graph_add_batch_mem_op_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies,
                                     std::size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params);
CUresult graph_batch_mem_op_node_get_params(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* params);
CUresult graph_batch_mem_op_node_set_params(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params);
CUresult graph_exec_batch_mem_op_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                 const CUDA_BATCH_MEM_OP_NODE_PARAMS* params);

CUresult mem_get_address_range(CUdeviceptr* base, std::size_t* size, CUdeviceptr address);

/// Returns the context of this thread's device; null if the thread has none yet.
CUcontext current_context() noexcept;
CUresult ctx_get_current(CUcontext* context);
CUresult ctx_get_id(CUcontext context, unsigned long long* id);
CUresult ctx_get_device(CUdevice* device);
CUresult ctx_push_current(CUcontext context);
CUresult ctx_pop_current(CUcontext* context);
CUresult stream_get_ctx(CUstream stream, CUcontext* context);

/// These are neither counted nor made to fail, like cudaLogs*.
CUresult logs_current(unsigned* next, unsigned flags);
CUresult logs_dump_to_memory(unsigned* next, char* buffer, std::size_t* size, unsigned flags);

CUresult get_error_name(CUresult error, const char** name);
CUresult get_error_string(CUresult error, const char** description);

} // namespace cudart_cpu::detail::driver
