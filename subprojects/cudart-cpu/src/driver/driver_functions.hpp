// The driver's functions of src/driver; driver_table.inc gives them their names. They leave the runtime's last error
// alone.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace cudart_cpu::detail::driver {

CUresult graph_add_kernel_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_KERNEL_NODE_PARAMS_v2* params);
CUresult graph_get_nodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count);
CUresult graph_node_get_type(CUgraphNode node, CUgraphNodeType* type);
CUresult graph_node_get_tools_id(CUgraphNode node, unsigned long long* id);
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

// The driver's functions for contexts, also green ones.
CUresult device_primary_ctx_retain(CUcontext* context, CUdevice device);
CUresult device_primary_ctx_release(CUdevice device);
CUresult device_primary_ctx_set_flags(CUdevice device, unsigned flags);
CUresult device_primary_ctx_get_state(CUdevice device, unsigned* flags, int* active);
CUresult device_primary_ctx_reset(CUdevice device);
CUresult ctx_create_v2(CUcontext* context, unsigned flags, CUdevice device);
CUresult ctx_create_v3(CUcontext* context, CUexecAffinityParam* affinities, int count, unsigned flags, CUdevice device);
#if CUDA_VERSION >= 12050
CUresult ctx_create_v4(CUcontext* context, CUctxCreateParams* params, unsigned flags, CUdevice device);
#endif
CUresult ctx_destroy(CUcontext context);
CUresult ctx_set_current(CUcontext context);
CUresult ctx_get_device_v2(CUdevice* device, CUcontext context);
CUresult ctx_get_api_version(CUcontext context, unsigned* version);
CUresult ctx_get_flags(unsigned* flags);
CUresult ctx_synchronize();
CUresult ctx_synchronize_v2(CUcontext context);
CUresult ctx_enable_peer_access(CUcontext peer, unsigned flags);
CUresult ctx_disable_peer_access(CUcontext peer);
CUresult device_get_dev_resource(CUdevice device, CUdevResource* resource, CUdevResourceType type);
CUresult ctx_get_dev_resource(CUcontext context, CUdevResource* resource, CUdevResourceType type);
CUresult green_ctx_get_dev_resource(CUgreenCtx green, CUdevResource* resource, CUdevResourceType type);
CUresult dev_sm_resource_split_by_count(CUdevResource* results, unsigned* groups, const CUdevResource* input,
                                        CUdevResource* remaining, unsigned, unsigned least);
CUresult dev_resource_generate_desc(CUdevResourceDesc* descriptor, CUdevResource* resources, unsigned count);
CUresult green_ctx_create(CUgreenCtx* green, CUdevResourceDesc descriptor, CUdevice device, unsigned flags);
CUresult green_ctx_destroy(CUgreenCtx green);
CUresult ctx_from_green_ctx(CUcontext* context, CUgreenCtx green);
CUresult green_ctx_stream_create(CUstream* stream, CUgreenCtx green, unsigned flags, int priority);
CUresult stream_get_green_ctx(CUstream stream, CUgreenCtx* green);
CUresult stream_get_ctx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green);
CUresult green_ctx_get_id(CUgreenCtx green, unsigned long long* id);
CUresult ctx_record_event(CUcontext context, CUevent event);
CUresult ctx_wait_event(CUcontext context, CUevent event);
CUresult green_ctx_record_event(CUgreenCtx green, CUevent event);
CUresult green_ctx_wait_event(CUgreenCtx green, CUevent event);

// The driver's functions for initialisation and devices.
CUresult init(unsigned flags);
CUresult driver_get_version(int* version);
CUresult profiler_start();
CUresult profiler_stop();
CUresult device_get(CUdevice* device, int ordinal);
CUresult device_get_name(char* name, int length, CUdevice device);
CUresult device_get_uuid(CUuuid* uuid, CUdevice device);
CUresult device_total_mem(std::size_t* bytes, CUdevice device);
CUresult device_get_attribute(int* value, CUdevice_attribute attribute, CUdevice device);
CUresult device_compute_capability(int* major, int* minor, CUdevice device);
CUresult device_get_properties(CUdevprop* properties, CUdevice device);
CUresult device_get_exec_affinity_support(int* supported, CUexecAffinityType, CUdevice device);

// cudaGetDriverEntryPoint, cudaGetDriverEntryPointByVersion and cuGetProcAddress.
CUresult get_proc_address(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status);
CUresult get_proc_address_v1(const char* symbol, void** function, int version, cuuint64_t flags);

// The driver's functions for launches, fills and errors.
CUresult launch_cooperative_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** params);
CUresult memset_d8(CUdeviceptr destination, unsigned char value, std::size_t count);
CUresult memset_d16(CUdeviceptr destination, unsigned short value, std::size_t count);
CUresult memset_d32(CUdeviceptr destination, unsigned value, std::size_t count);
CUresult memset_2d_d8(CUdeviceptr destination, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height);
CUresult memset_2d_d16(CUdeviceptr destination, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height);
CUresult memset_2d_d32(CUdeviceptr destination, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height);

// The driver's functions for graphs.

// The driver's functions for graphs and captures with other parameters than the runtime's, or with CUDA 11's.
CUresult graph_add_memcpy_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_MEMCPY3D* copy, CUcontext context);
CUresult graph_memcpy_node_get_params(CUgraphNode node, CUDA_MEMCPY3D* copy);
CUresult graph_memcpy_node_set_params(CUgraphNode node, const CUDA_MEMCPY3D* copy);
CUresult graph_exec_memcpy_node_set_params(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                           CUcontext context);
CUresult graph_add_memset_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context);
CUresult graph_exec_memset_node_set_params(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* set,
                                           CUcontext context);
CUresult graph_get_edges_v1(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count);
CUresult graph_node_get_dependencies_v1(CUgraphNode node, CUgraphNode* dependencies, std::size_t* count);
CUresult graph_node_get_dependent_nodes_v1(CUgraphNode node, CUgraphNode* dependents, std::size_t* count);
CUresult graph_add_dependencies_v1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count);
CUresult graph_remove_dependencies_v1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count);
CUresult graph_add_node_v1(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                           CUgraphNodeParams* params);
CUresult graph_exec_update_v1(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                              CUgraphExecUpdateResult* result);
CUresult stream_get_capture_info_v1(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id);
CUresult stream_get_capture_info_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                    const CUgraphNode** dependencies, std::size_t* count);
CUresult stream_update_capture_dependencies_v1(CUstream stream, CUgraphNode* dependencies, std::size_t count,
                                               unsigned flags);

// The driver's functions for memory operations, in streams and in graphs.

// The driver's functions for memory: allocations, copies, fills, and attributes of pointers.
CUresult mem_alloc(CUdeviceptr* pointer, std::size_t bytes);
CUresult mem_alloc_pitch(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned element_bytes);
CUresult mem_alloc_host(void** pointer, std::size_t bytes);
CUresult mem_host_alloc(void** pointer, std::size_t bytes, unsigned flags);
CUresult memcpy_any(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
CUresult memcpy_any_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream);
CUresult memcpy_h_to_d(CUdeviceptr to, const void* from, std::size_t bytes);
CUresult memcpy_h_to_d_async(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream);
CUresult memcpy_d_to_h(void* to, CUdeviceptr from, std::size_t bytes);
CUresult memcpy_d_to_h_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream);
CUresult memcpy_d_to_d(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
CUresult memcpy_d_to_d_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream);
CUresult memcpy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes);
CUresult memcpy_peer_async(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream stream);
CUresult memcpy_2d(const CUDA_MEMCPY2D* copy);
CUresult memcpy_2d_unaligned(const CUDA_MEMCPY2D* copy);
CUresult memcpy_2d_async(const CUDA_MEMCPY2D* copy, CUstream stream);
CUresult memcpy_3d(const CUDA_MEMCPY3D* copy);
CUresult memcpy_3d_async(const CUDA_MEMCPY3D* copy, CUstream stream);
CUresult memcpy_d_to_a(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes);
CUresult memcpy_a_to_d(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes);
CUresult memcpy_h_to_a(CUarray to, std::size_t offset, const void* from, std::size_t bytes);
CUresult memcpy_a_to_h(void* to, CUarray from, std::size_t offset, std::size_t bytes);
CUresult memcpy_a_to_a(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset, std::size_t bytes);
CUresult memcpy_h_to_a_async(CUarray to, std::size_t offset, const void* from, std::size_t bytes, CUstream stream);
CUresult memcpy_a_to_h_async(void* to, CUarray from, std::size_t offset, std::size_t bytes, CUstream stream);
CUresult pointer_get_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer);
CUresult pointer_get_attributes(unsigned count, CUpointer_attribute* attributes, void** data, CUdeviceptr pointer);
CUresult pointer_set_attribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer);
CUresult mem_prefetch_to_device(CUdeviceptr pointer, std::size_t bytes, CUdevice device, CUstream stream);
CUresult mem_advise_device(CUdeviceptr pointer, std::size_t bytes, CUmem_advise advice, CUdevice device);

// The driver's functions for modules, libraries, kernels and functions. A module is a library under another name.
CUresult module_load(CUmodule* module, const char* path);
CUresult module_load_data(CUmodule* module, const void* image);
CUresult module_load_data_ex(CUmodule* module, const void* image, unsigned, CUjit_option*, void**);
CUresult module_load_fat_binary(CUmodule* module, const void* image);
CUresult module_unload(CUmodule module);
CUresult module_get_function(CUfunction* function, CUmodule module, const char* name);
CUresult module_get_function_count(unsigned* count, CUmodule module);
CUresult module_enumerate_functions(CUfunction* functions, unsigned count, CUmodule module);
CUresult module_get_global(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name);
CUresult module_get_loading_mode(CUmoduleLoadingMode* mode);
CUresult library_load_data(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*,
                           void**, unsigned);
CUresult library_load_from_file(CUlibrary* library, const char* path, CUjit_option*, void**, unsigned, CUlibraryOption*,
                                void**, unsigned);
CUresult library_unload(CUlibrary library);
CUresult library_get_kernel(CUkernel* kernel, CUlibrary library, const char* name);
CUresult library_get_kernel_count(unsigned* count, CUlibrary library);
CUresult library_enumerate_kernels(CUkernel* kernels, unsigned count, CUlibrary library);
CUresult library_get_module(CUmodule* module, CUlibrary library);
CUresult library_get_global(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name);
CUresult library_get_managed(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name);
CUresult kernel_get_name(const char** name, CUkernel kernel);
CUresult kernel_get_library(CUlibrary* library, CUkernel kernel);
CUresult kernel_get_attribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device);
CUresult kernel_set_attribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device);
CUresult kernel_set_cache_config(CUkernel kernel, CUfunc_cache config, CUdevice device);
CUresult kernel_get_param_count(CUkernel kernel, std::size_t* count);
CUresult kernel_get_param_info(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* size);
CUresult func_get_module(CUmodule* module, CUfunction function);
CUresult func_set_attribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult func_set_cache_config(CUfunction function, CUfunc_cache config);
CUresult func_is_loaded(CUfunctionLoadingState* state, CUfunction function);
CUresult func_load(CUfunction function);
CUresult occupancy_blocks(int* blocks, CUfunction function, int block_size, std::size_t shared_bytes);
CUresult occupancy_blocks_with_flags(int* blocks, CUfunction function, int block_size, std::size_t shared_bytes,
                                     unsigned flags);
CUresult occupancy_available_shared(std::size_t* bytes, CUfunction function, int blocks, int block_size);
CUresult occupancy_block_size(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                              std::size_t shared_bytes, int limit);
CUresult occupancy_block_size_with_flags(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                                         std::size_t shared_bytes, int limit, unsigned flags);

// The driver's functions for virtual memory management.
CUresult mem_get_allocation_granularity(std::size_t* granularity, const CUmemAllocationProp* properties,
                                        CUmemAllocationGranularity_flags option);
CUresult mem_address_reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags);
CUresult mem_address_free(CUdeviceptr address, std::size_t bytes);
CUresult mem_create(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
                    unsigned long long flags);
CUresult mem_release(CUmemGenericAllocationHandle handle);
CUresult mem_map(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                 unsigned long long flags);
CUresult mem_unmap(CUdeviceptr address, std::size_t bytes);
CUresult mem_set_access(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* descriptors, std::size_t count);
CUresult mem_get_access(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address);
CUresult mem_retain_allocation_handle(CUmemGenericAllocationHandle* handle, void* address);
CUresult mem_get_allocation_properties(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle);

#if CUDA_VERSION >= 13000
/// CUDA 12's form of batches, which report the number of the wrong copy.
CUresult memcpy_batch_v1(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                         CUmemcpyAttributes* attributes, std::size_t* first_of_attributes, std::size_t attribute_count,
                         std::size_t* failed, CUstream stream);
CUresult memcpy_3d_batch_v1(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, std::size_t* failed,
                            unsigned long long flags, CUstream stream);
#endif

CUresult ctx_set_flags(unsigned flags);
CUresult memcpy_3d_peer(const CUDA_MEMCPY3D_PEER* copy);
CUresult memcpy_3d_peer_async(const CUDA_MEMCPY3D_PEER* copy, CUstream stream);
CUresult occupancy_active_clusters(int* clusters, CUfunction function, const CUlaunchConfig* config);
CUresult occupancy_cluster_size(int* size, CUfunction function, const CUlaunchConfig* config);

// The driver's functions for arrays, textures and surfaces.
CUresult array_create(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor);
CUresult array_create_3d(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor);
CUresult array_get_descriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray handle);
CUresult array_get_descriptor_3d(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle);
CUresult mipmapped_array_create(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned levels);
CUresult device_get_texture_1d_linear_max_width(std::size_t* width, CUarray_format format, unsigned channels,
                                                CUdevice device);
CUresult tex_object_create(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* sampling,
                           const CUDA_RESOURCE_VIEW_DESC* view);
CUresult surf_object_create(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource);

} // namespace cudart_cpu::detail::driver
