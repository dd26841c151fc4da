// cudaGetDriverEntryPoint and cudaGetDriverEntryPointByVersion.
#include "driver_functions.hpp"
#include "runtime/call.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/node_functions.hpp"
#include "runtime/text.hpp"

#include <cudaTypedefs.h>

#include <algorithm>
#include <string_view>

namespace cudart_cpu::detail {

namespace {

struct EntryPoint {
    std::string_view name;
    unsigned since; // the CUDA version that brought this signature
    void* address;
};

/// Requires at compile time that `function` has exactly the driver's signature.
template <class Signature>
EntryPoint entry(std::string_view name, unsigned since, Signature function) {
    return {name, since, reinterpret_cast<void*>(function)};
}

const EntryPoint* find_entry_point(std::string_view name) {
    static const EntryPoint all[] = {
        entry<PFN_cuGraphAddKernelNode_v12000>("cuGraphAddKernelNode", 12000, driver::graph_add_kernel_node),
        entry<PFN_cuGraphAddNode_v12030>("cuGraphAddNode", 12030, driver::graph_add_node),
        entry<PFN_cuGraphNodeSetParams_v12020>("cuGraphNodeSetParams", 12020, driver::graph_node_set_params),
        entry<PFN_cuGraphExecNodeSetParams_v12020>("cuGraphExecNodeSetParams", 12020,
                                                   driver::graph_exec_node_set_params),
        entry<CUresult(CUDAAPI*)(CUgraphNode, CUgraphNodeParams*)>("cuGraphNodeGetParams", 13020,
                                                                   driver::graph_node_get_params),
        entry<PFN_cuGraphGetNodes_v10000>("cuGraphGetNodes", 10000, driver::graph_get_nodes),
        entry<PFN_cuGraphNodeGetType_v10000>("cuGraphNodeGetType", 10000, driver::graph_node_get_type),
        entry<PFN_cuGraphNodeGetDependencies_v12030>("cuGraphNodeGetDependencies", 12030,
                                                     driver::graph_node_get_dependencies),
        entry<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000,
                                                     driver::graph_kernel_node_get_params),
        entry<PFN_cuGraphKernelNodeSetParams_v12000>("cuGraphKernelNodeSetParams", 12000,
                                                     driver::graph_kernel_node_set_params),
        entry<PFN_cuGraphKernelNodeGetAttribute_v11000>("cuGraphKernelNodeGetAttribute", 11000,
                                                        driver::graph_kernel_node_get_attribute),
        entry<PFN_cuGraphKernelNodeSetAttribute_v11000>("cuGraphKernelNodeSetAttribute", 11000,
                                                        driver::graph_kernel_node_set_attribute),
        entry<PFN_cuGraphExecKernelNodeSetParams_v12000>("cuGraphExecKernelNodeSetParams", 12000,
                                                         driver::graph_exec_kernel_node_set_params),
        entry<PFN_cuGraphInstantiateWithParams_v12000>("cuGraphInstantiateWithParams", 12000,
                                                       driver::graph_instantiate_with_params),
        entry<PFN_cuGraphConditionalHandleCreate_v12030>("cuGraphConditionalHandleCreate", 12030,
                                                         driver::graph_conditional_handle_create),
        entry<PFN_cuGraphExecUpdate_v12000>("cuGraphExecUpdate", 12000, driver::graph_exec_update),
        entry<PFN_cuGraphLaunch_v10000>("cuGraphLaunch", 10000, driver::graph_launch),
        entry<PFN_cuLaunchKernel_v4000>("cuLaunchKernel", 4000, driver::launch_kernel),
        entry<PFN_cuLaunchKernelEx_v11060>("cuLaunchKernelEx", 11060, driver::launch_kernel_ex),
        entry<PFN_cuStreamIsCapturing_v10000>("cuStreamIsCapturing", 10000, driver::stream_is_capturing),
        entry<PFN_cuKernelGetFunction_v12000>("cuKernelGetFunction", 12000, driver::kernel_get_function),
        entry<PFN_cuFuncGetName_v12030>("cuFuncGetName", 12030, driver::func_get_name),
        entry<PFN_cuFuncGetAttribute_v2020>("cuFuncGetAttribute", 2020, driver::func_get_attribute),
        entry<CUresult(CUDAAPI*)(CUfunction, std::size_t*)>("cuFuncGetParamCount", 13020, driver::func_get_param_count),
        entry<PFN_cuFuncGetParamInfo_v12040>("cuFuncGetParamInfo", 12040, driver::func_get_param_info),
        entry<PFN_cuMemsetD8Async_v3020>("cuMemsetD8Async", 3020, driver::memset_d8_async),
        entry<PFN_cuMemsetD16Async_v3020>("cuMemsetD16Async", 3020, driver::memset_d16_async),
        entry<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async", 3020, driver::memset_d32_async),
        entry<PFN_cuMemsetD2D8Async_v3020>("cuMemsetD2D8Async", 3020, driver::memset_2d_d8_async),
        entry<PFN_cuMemsetD2D16Async_v3020>("cuMemsetD2D16Async", 3020, driver::memset_2d_d16_async),
        entry<PFN_cuMemsetD2D32Async_v3020>("cuMemsetD2D32Async", 3020, driver::memset_2d_d32_async),
        entry<PFN_cuStreamWaitValue32_v11070>("cuStreamWaitValue32", 11070, driver::stream_wait_value_32),
        entry<PFN_cuStreamWaitValue64_v11070>("cuStreamWaitValue64", 11070, driver::stream_wait_value_64),
        entry<PFN_cuStreamWriteValue32_v11070>("cuStreamWriteValue32", 11070, driver::stream_write_value_32),
        entry<PFN_cuStreamWriteValue64_v11070>("cuStreamWriteValue64", 11070, driver::stream_write_value_64),
        entry<PFN_cuStreamBatchMemOp_v11070>("cuStreamBatchMemOp", 11070, driver::stream_batch_mem_op),
        entry<PFN_cuGraphAddBatchMemOpNode_v11070>("cuGraphAddBatchMemOpNode", 11070,
                                                   driver::graph_add_batch_mem_op_node),
        entry<PFN_cuGraphBatchMemOpNodeGetParams_v11070>("cuGraphBatchMemOpNodeGetParams", 11070,
                                                         driver::graph_batch_mem_op_node_get_params),
        entry<PFN_cuGraphBatchMemOpNodeSetParams_v11070>("cuGraphBatchMemOpNodeSetParams", 11070,
                                                         driver::graph_batch_mem_op_node_set_params),
        entry<PFN_cuGraphExecBatchMemOpNodeSetParams_v11070>("cuGraphExecBatchMemOpNodeSetParams", 11070,
                                                             driver::graph_exec_batch_mem_op_node_set_params),
        entry<PFN_cuMemGetAddressRange_v3020>("cuMemGetAddressRange", 3020, driver::mem_get_address_range),
        entry<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000, driver::ctx_get_current),
        entry<PFN_cuCtxGetId_v12000>("cuCtxGetId", 12000, driver::ctx_get_id),
        entry<PFN_cuCtxGetDevice_v2000>("cuCtxGetDevice", 2000, driver::ctx_get_device),
        entry<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent", 4000, driver::ctx_push_current),
        entry<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent", 4000, driver::ctx_pop_current),
        entry<PFN_cuStreamGetCtx_v9020>("cuStreamGetCtx", 9020, driver::stream_get_ctx),
        entry<CUresult(CUDAAPI*)(unsigned*, unsigned)>("cuLogsCurrent", 12090, driver::logs_current),
        entry<CUresult(CUDAAPI*)(unsigned*, char*, std::size_t*, unsigned)>("cuLogsDumpToMemory", 12090,
                                                                            driver::logs_dump_to_memory),
        entry<PFN_cuGetErrorName_v6000>("cuGetErrorName", 6000, driver::get_error_name),
        entry<PFN_cuGetErrorString_v6000>("cuGetErrorString", 6000, driver::get_error_string),
    };
    for (const EntryPoint& one : all)
        if (one.name == name) return &one;
    return nullptr;
}

void look_up(const char* symbol, void** address, unsigned version, unsigned long long flags,
             cudaDriverEntryPointQueryResult* status) {
    require_pointer(symbol, "symbol");
    require_pointer(address, "funcPtr");
    if (flags > cudaEnablePerThreadDefaultStream)
        fail(cudaErrorInvalidValue, text("flags ", flags,
                                         " are none of cudaEnableDefault (0), cudaEnableLegacyStream "
                                         "(1) and cudaEnablePerThreadDefaultStream (2)"));
    const auto here = static_cast<unsigned>(driver_version());
    if (version > here)
        fail(cudaErrorInvalidValue, text("CUDA version ", version, " is later than the driver's ", here));
    const EntryPoint* found = find_entry_point(symbol);
    if (found && (found->since > here || is_missing(symbol))) found = nullptr;
    const bool old_enough = found && found->since <= version;
    *address = old_enough ? found->address : nullptr;
    if (status)
        *status = !found       ? cudaDriverEntryPointSymbolNotFound
                  : old_enough ? cudaDriverEntryPointSuccess
                               : cudaDriverEntryPointVersionNotSufficent;
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char* symbol, void** funcPtr,
                                                             unsigned long long flags,
                                                             enum cudaDriverEntryPointQueryResult* driverStatus) {
    return api_in_forked_child("cudaGetDriverEntryPoint", [&] {
        const int version = std::min(CUDA_VERSION, driver_version());
        look_up(symbol, funcPtr, static_cast<unsigned>(version), flags, driverStatus);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI
cudaGetDriverEntryPointByVersion(const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
                                 enum cudaDriverEntryPointQueryResult* driverStatus) {
    return api_in_forked_child("cudaGetDriverEntryPointByVersion",
                               [&] { look_up(symbol, funcPtr, cudaVersion, flags, driverStatus); });
}
