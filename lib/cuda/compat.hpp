// Differences between the versions of CUDA (12.4 to 13.x), and the versions of features: all in this file.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#if CUDART_VERSION < 12040
#error "cudag needs CUDA 12.4 or later"
#endif

namespace cudag::detail {

/// The oldest CUDA that cudag builds with and runs on.
inline constexpr int oldest_version = 12040;

/// The first version of CUDA with a feature.
namespace since {
inline constexpr int kernels_from_images = 12080; ///< cudag's own kernels, loaded from PTX
inline constexpr int switch_nodes = 12080;
inline constexpr int else_bodies = 12080;
inline constexpr int moved_children = 12090;
inline constexpr int green_streams = 12050;
inline constexpr int workqueues = 13010;      ///< configured for green contexts
inline constexpr int host_sync_modes = 13010; ///< of host nodes
inline constexpr int readable_nodes = 13020;  ///< nodes of any kind read by one function
inline constexpr int copy_batches = 13050;    ///< several copies in one node
} // namespace since

} // namespace cudag::detail

namespace cudag::detail::compat {

/// Adds edges; `data` may be null if no edge has any. CUDA 13.0 folded the edge-data variants into the original names.
inline cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                          const cudaGraphEdgeData* data, std::size_t count) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddDependencies(graph, from, to, data, count);
#else
    return cudaGraphAddDependencies_v2(graph, from, to, data, count);
#endif
}

inline cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                             const cudaGraphEdgeData* data, std::size_t count) {
#if CUDART_VERSION >= 13000
    return cudaGraphRemoveDependencies(graph, from, to, data, count);
#else
    return cudaGraphRemoveDependencies_v2(graph, from, to, data, count);
#endif
}

/// Adds a node by the parameters of its kind, after the `count` nodes `after`. CUDA may write to `params`.
inline cudaError_t graph_add_node(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeParams* params,
                                  const cudaGraphNode_t* after = nullptr, std::size_t count = 0) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(node, graph, after, nullptr, count, params);
#else
    return cudaGraphAddNode(node, graph, after, count, params);
#endif
}

/// Adds `inner` itself, not a clone of it: CUDA 12.9.
inline cudaError_t graph_move_child(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraph_t inner) {
#if CUDART_VERSION >= 12090
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = inner;
    params.graph.ownership = cudaGraphChildGraphOwnershipMove;
    return graph_add_node(node, graph, &params);
#else
    static_cast<void>(node), static_cast<void>(graph), static_cast<void>(inner);
    return cudaErrorNotSupported;
#endif
}

/// The parameters of a copy of several dimensions, as of any node.
inline cudaGraphNodeParams copy_params(const cudaMemcpy3DParms& copy) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemcpy;
    params.memcpy.copyParams = copy;
    return params;
}
inline cudaError_t CUDARTAPI graph_add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaMemcpy3DParms* copy) {
    cudaGraphNodeParams params = copy_params(*copy);
    return graph_add_node(node, graph, &params);
}
inline cudaError_t CUDARTAPI graph_copy_set_params(cudaGraphNode_t node, const cudaMemcpy3DParms* copy) {
    cudaGraphNodeParams params = copy_params(*copy);
    return cudaGraphNodeSetParams(node, &params);
}
inline cudaError_t CUDARTAPI graph_exec_copy_set_params(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const cudaMemcpy3DParms* copy) {
    cudaGraphNodeParams params = copy_params(*copy);
    return cudaGraphExecNodeSetParams(exec, node, &params);
}

/// The parameters of a fill, as of any node.
inline cudaGraphNodeParams fill_params(const cudaMemsetParams& fill) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = fill.dst;
    params.memset.pitch = fill.pitch;
    params.memset.value = fill.value;
    params.memset.elementSize = fill.elementSize;
    params.memset.width = fill.width;
    params.memset.height = fill.height;
    return params;
}
inline cudaError_t CUDARTAPI graph_add_fill(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                            std::size_t count, const cudaMemsetParams* fill) {
    cudaGraphNodeParams params = fill_params(*fill);
    return graph_add_node(node, graph, &params, after, count);
}
inline cudaError_t CUDARTAPI graph_fill_set_params(cudaGraphNode_t node, const cudaMemsetParams* fill) {
    cudaGraphNodeParams params = fill_params(*fill);
    return cudaGraphNodeSetParams(node, &params);
}
inline cudaError_t CUDARTAPI graph_exec_fill_set_params(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const cudaMemsetParams* fill) {
    cudaGraphNodeParams params = fill_params(*fill);
    return cudaGraphExecNodeSetParams(exec, node, &params);
}

/// The sync mode of a host node, by CUDA's number. Before CUDA 13.1 there is none.
#if CUDART_VERSION >= 13010
inline void set_host_sync_mode(CUgraphNodeParams& params, unsigned mode) noexcept {
    params.host.syncMode = mode;
}
inline unsigned host_sync_mode(const CUgraphNodeParams& params) noexcept {
    return params.host.syncMode;
}
#else
inline void set_host_sync_mode(CUgraphNodeParams& /*params*/, unsigned /*mode*/) noexcept {}
inline unsigned host_sync_mode(const CUgraphNodeParams& /*params*/) noexcept {
    return 0;
}
#endif

/// The attributes of copies in a batch: CUDA's CUmemcpyAttributes, which CUDA 12.4 lacks.
struct CopyAttributes {
    struct Place {
        int type;
        int id;
        friend bool operator==(const Place&, const Place&) = default;
    };
    unsigned order; ///< of accesses to the source
    Place source;   ///< hints
    Place destination;
    unsigned flags;
    friend bool operator==(const CopyAttributes&, const CopyAttributes&) = default;
};
/// The arrays of a node for a batch of copies.
struct CopyArrays {
    CUcontext context;
    std::size_t count;
    CUdeviceptr *destinations, *sources;
    std::size_t* bytes;
    CopyAttributes* attributes;
    std::size_t* first_of_attributes; ///< the first copy with each of them
    std::size_t attribute_count;
};
#if CUDART_VERSION >= 13050
inline constexpr bool has_copy_batches = true;
static_assert(sizeof(CopyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(offsetof(CopyAttributes, source) == offsetof(CUmemcpyAttributes, srcLocHint));
static_assert(offsetof(CopyAttributes, destination) == offsetof(CUmemcpyAttributes, dstLocHint));
static_assert(offsetof(CopyAttributes, flags) == offsetof(CUmemcpyAttributes, flags));
inline CUgraphNodeParams copy_batch_params(const CopyArrays& copies) noexcept {
    CUgraphNodeParams params{};
    params.type = static_cast<CUgraphNodeType>(cudaGraphNodeTypeMemcpyBatch);
    CUDA_MEMCPY_BATCH_NODE_PARAMS& batch = params.memcpyBatch;
    batch.count = copies.count;
    batch.dsts = copies.destinations;
    batch.srcs = copies.sources;
    batch.sizes = copies.bytes;
    batch.attrs = reinterpret_cast<CUmemcpyAttributes*>(copies.attributes);
    batch.attrsIdxs = copies.first_of_attributes;
    batch.numAttrs = copies.attribute_count;
    batch.ctx = copies.context;
    return params;
}
inline CopyArrays copy_arrays(const CUgraphNodeParams& params) noexcept {
    const CUDA_MEMCPY_BATCH_NODE_PARAMS& batch = params.memcpyBatch;
    return {batch.ctx,       batch.count,   batch.dsts,
            batch.srcs,      batch.sizes,   reinterpret_cast<CopyAttributes*>(batch.attrs),
            batch.attrsIdxs, batch.numAttrs};
}
#else
inline constexpr bool has_copy_batches = false;
inline CUgraphNodeParams copy_batch_params(const CopyArrays& /*copies*/) noexcept {
    return {};
}
inline CopyArrays copy_arrays(const CUgraphNodeParams& /*params*/) noexcept {
    return {};
}
#endif
inline constexpr int copy_batch_type = 14; // cudaGraphNodeTypeMemcpyBatch

/// Reads a copy as a node of any kind; null if the runtime is older than `since::readable_nodes`.
#if CUDART_VERSION >= 13020
inline cudaError_t CUDARTAPI read_copy_as_any(cudaGraphNode_t node, cudaMemcpy3DParms* copy) {
    cudaGraphNodeParams params{};
    const cudaError_t status = cudaGraphNodeGetParams(node, &params);
    *copy = params.memcpy.copyParams;
    return status;
}
inline constexpr auto graph_copy_get_params = read_copy_as_any;
#else
inline constexpr std::nullptr_t graph_copy_get_params = nullptr;
#endif

/// Reads the recording, but not the place of the next node. Sets `id` and `graph` if `status` is active.
inline cudaError_t stream_get_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                           cudaGraph_t* graph) {
#if CUDART_VERSION >= 13000
    return cudaStreamGetCaptureInfo(stream, status, id, graph, nullptr, nullptr, nullptr);
#else
    return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nullptr, nullptr);
#endif
}

/// Counts the edges of a graph.
inline cudaError_t graph_edge_count(cudaGraph_t graph, std::size_t* count) {
#if CUDART_VERSION >= 13000
    return cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, count);
#else
    return cudaGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, count);
#endif
}

/// Counts the edges from a node.
inline cudaError_t graph_node_dependent_count(cudaGraphNode_t node, std::size_t* count) {
#if CUDART_VERSION >= 13000
    return cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, count);
#else
    return cudaGraphNodeGetDependentNodes(node, nullptr, count);
#endif
}

/// Reads the stream's tail: the predecessors of its next node, and their edges. Sets them if `status` is active; they
/// are valid until the next call about the capture.
inline cudaError_t stream_get_capture_front(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data,
                                            std::size_t* count, unsigned long long* id = nullptr) {
#if CUDART_VERSION >= 13000
    return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nodes, data, count);
#else
    return cudaStreamGetCaptureInfo_v3(stream, status, id, nullptr, nodes, data, count);
#endif
}

/// Makes `nodes` the predecessors of the stream's next node.
inline cudaError_t stream_set_capture_front(cudaStream_t stream, cudaGraphNode_t* nodes, std::size_t count) {
#if CUDART_VERSION >= 13000
    return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, cudaStreamSetCaptureDependencies);
#else
    return cudaStreamUpdateCaptureDependencies(stream, nodes, count, cudaStreamSetCaptureDependencies);
#endif
}

/// The driver function `name` as of driver interface `version`, or null if the driver has none.
inline cudaError_t driver_entry_point(const char* name, unsigned version, void** function) {
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion(name, function, version, cudaEnableDefault, &found);
#else
    static_cast<void>(version);
    const cudaError_t status = cudaGetDriverEntryPoint(name, function, cudaEnableDefault, &found);
#endif
    if (status == cudaSuccess && found != cudaDriverEntryPointSuccess) *function = nullptr;
    return status;
}

/// The device of a stream that is not captured: CUDA 12.8.
inline cudaError_t stream_get_device(cudaStream_t stream, int* device) {
#if CUDART_VERSION >= 12080
    return cudaStreamGetDevice(stream, device);
#else
    static_cast<void>(stream), static_cast<void>(device);
    return cudaErrorCallRequiresNewerDriver;
#endif
}

#if CUDART_VERSION >= 12080
using Library = cudaLibrary_t;
#else
using Library = CUlibrary;
#endif

/// Loads PTX text, or an image, for all devices: CUDA 12.8.
inline cudaError_t library_load_data(Library* library, const void* code) {
#if CUDART_VERSION >= 12080
    return cudaLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
#else
    static_cast<void>(library), static_cast<void>(code);
    return cudaErrorCallRequiresNewerDriver;
#endif
}
inline cudaError_t library_load_file(Library* library, const char* path) {
#if CUDART_VERSION >= 12080
    return cudaLibraryLoadFromFile(library, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
#else
    static_cast<void>(library), static_cast<void>(path);
    return cudaErrorCallRequiresNewerDriver;
#endif
}
inline cudaError_t library_kernel_count(unsigned* count, Library library) {
#if CUDART_VERSION >= 12080
    return cudaLibraryGetKernelCount(count, library);
#else
    static_cast<void>(count), static_cast<void>(library);
    return cudaErrorCallRequiresNewerDriver;
#endif
}
inline cudaError_t library_kernels(cudaKernel_t* kernels, unsigned count, Library library) {
#if CUDART_VERSION >= 12080
    return cudaLibraryEnumerateKernels(kernels, count, library);
#else
    static_cast<void>(kernels), static_cast<void>(count), static_cast<void>(library);
    return cudaErrorCallRequiresNewerDriver;
#endif
}
inline cudaError_t library_get_kernel(cudaKernel_t* kernel, Library library, const char* name) {
#if CUDART_VERSION >= 12080
    return cudaLibraryGetKernel(kernel, library, name);
#else
    static_cast<void>(kernel), static_cast<void>(library), static_cast<void>(name);
    return cudaErrorCallRequiresNewerDriver;
#endif
}
inline cudaError_t library_unload(Library library) {
#if CUDART_VERSION >= 12080
    return cudaLibraryUnload(library);
#else
    static_cast<void>(library);
    return cudaErrorCallRequiresNewerDriver;
#endif
}

} // namespace cudag::detail::compat
