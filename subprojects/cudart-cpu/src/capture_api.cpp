// cudaStream*Capture* and cudaThreadExchangeStreamCaptureMode.
#include "capture.hpp"
#include "capture_rules.hpp"
#include "graph_enum.hpp"
#include "graph_params.hpp"

#include <algorithm>
#include <optional>

namespace cudart_cpu::detail {

namespace {

void require_mode(cudaStreamCaptureMode mode) {
    if (const int number = number_in(mode);
        number < cudaStreamCaptureModeGlobal || number > cudaStreamCaptureModeRelaxed)
        fail(cudaErrorInvalidValue, text("capture mode ", number, " is unknown"));
}

/// The stream, ready to begin a capture.
Stream& idle_stream_of(cudaStream_t handle) {
    Stream& stream = stream_of(handle);
    if (is_legacy(stream)) fail(cudaErrorStreamCaptureUnsupported, "the legacy default stream cannot capture");
    if (stream.capture()) fail(cudaErrorIllegalState, "the stream is capturing already");
    return stream;
}

/// Edges from `nodes` of `graph` to a node that nobody knows yet.
CaptureFront front_of(const Graph& graph, const cudaGraphNode_t* nodes, const cudaGraphEdgeData* data,
                      std::size_t count) {
    CaptureFront front;
    const std::vector<Node*> checked = dependencies_of(graph, nodes, count);
    require_valid_edges(data, count, [&](std::size_t i) {
        return EdgeEnds{checked[i]->work->type(), cudaGraphNodeTypeKernel};
    });
    for (std::size_t i = 0; i < count; ++i)
        front.add(nodes[i], data ? data[i] : cudaGraphEdgeData{});
    return front;
}

/// Throws Failure, and leaves the sequence as it is, if it cannot be ended here; a sequence that has failed ends all
/// the same, without a result.
void end(cudaStream_t handle, cudaGraph_t* result) {
    Stream& stream = stream_of(handle);
    const std::shared_ptr<Capture> capture = stream.capture();
    if (!capture) fail(cudaErrorIllegalState, "the stream is not capturing");
    if (&capture->origin() != &stream) {
        capture->invalidate();
        fail(cudaErrorStreamCaptureUnmatched, "the capture was not begun in this stream");
    }
    if (capture->mode() != cudaStreamCaptureModeRelaxed && !capture->is_of_this_thread())
        fail(cudaErrorStreamCaptureWrongThread, "the capture was begun by another thread");
    std::optional<Failure> failure;
    if (capture->status() == cudaStreamCaptureStatusInvalidated)
        failure = {cudaErrorStreamCaptureInvalidated, "the capture was invalidated by an earlier error"};
    else if (!capture->is_joined())
        failure = {cudaErrorStreamCaptureUnjoined, "work of a forked stream was not joined to the capture's stream"};
    if (failure) {
        drop_capture(capture);
        throw *std::move(failure);
    }
    end_capture(capture);
    *result = capture->graph()->handle();
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return graph_api("cudaStreamBeginCapture", [&] {
        require_mode(mode);
        Stream& origin = idle_stream_of(stream);
        auto graph = std::make_shared<Graph>();
        const cudaGraph_t handle = register_graph(graph);
        try {
            begin_capture(std::make_shared<Capture>(origin, mode, std::move(graph), true), {});
        } catch (...) {
            destroy_graph(handle);
            throw;
        }
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                                   const cudaGraphNode_t* dependencies,
                                                                   const cudaGraphEdgeData* dependencyData,
                                                                   size_t numDependencies, cudaStreamCaptureMode mode) {
    return graph_api("cudaStreamBeginCaptureToGraph", [&] {
        require_mode(mode);
        Stream& origin = idle_stream_of(stream);
        std::shared_ptr<Graph> target = shared_graph_of(graph);
        const CaptureFront front = front_of(*target, dependencies, dependencyData, numDependencies);
        begin_capture(std::make_shared<Capture>(origin, mode, std::move(target), false), front);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
    return graph_api("cudaStreamEndCapture", [&] {
        require_pointer(pGraph, "pGraph");
        end(stream, pGraph);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return graph_api("cudaStreamIsCapturing", [&] {
        require_pointer(status, "pCaptureStatus");
        *status = capture_status_of(stream_of(stream));
    });
}

// Before CUDA 13 the header gives these names to older signatures.
#if CUDART_VERSION < 13000
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#undef cudaStreamUpdateCaptureDependencies
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                                 unsigned long long* id, cudaGraph_t* graph,
                                                                 const cudaGraphNode_t** dependencies, size_t* count) {
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}
#endif

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                              unsigned long long* id, cudaGraph_t* graph,
                                                              const cudaGraphNode_t** dependencies,
                                                              const cudaGraphEdgeData** edgeData, size_t* count) {
    return graph_api("cudaStreamGetCaptureInfo", [&] {
        require_pointer(status, "captureStatus_out");
        if (edgeData) require_pointer(dependencies, "dependencies_out, which goes with edgeData_out,");
        Stream& asked = stream_of(stream);
        *status = capture_status_of(asked);
        if (*status != cudaStreamCaptureStatusActive) return;
        Capture& capture = *asked.capture();
        const CaptureFront& front = capture.front_of(asked);
        if (dependencies && !edgeData && !std::ranges::all_of(front.data, is_ordinary))
            fail(cudaErrorLossyQuery, "a dependency has non-default edge data, and edgeData_out is NULL");
        if (id) *id = capture.id();
        if (graph) *graph = capture.graph()->handle();
        if (dependencies) *dependencies = front.nodes.data();
        if (edgeData) *edgeData = front.data.data();
        if (count) *count = front.nodes.size();
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                         cudaGraphNode_t* dependencies,
                                                                         const cudaGraphEdgeData* dependencyData,
                                                                         size_t numDependencies, unsigned int flags) {
    return graph_api("cudaStreamUpdateCaptureDependencies", [&] {
        Stream& updated = stream_of(stream);
        if (flags != cudaStreamAddCaptureDependencies && flags != cudaStreamSetCaptureDependencies)
            fail(cudaErrorInvalidValue, text("flags ", flags, " neither add dependencies (0) nor set them (1)"));
        const std::shared_ptr<Capture> capture = active_capture_of(updated);
        if (!capture) fail(cudaErrorIllegalState, "the stream is not capturing");
        CaptureFront next = front_of(*capture->graph(), dependencies, dependencyData, numDependencies);
        CaptureFront& front = capture->front_of(updated);
        if (flags == cudaStreamAddCaptureDependencies)
            front.add(next);
        else
            front = std::move(next);
    });
}

#if CUDART_VERSION < 13000
#undef cudaStreamUpdateCaptureDependencies
CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                         cudaGraphNode_t* dependencies,
                                                                         size_t numDependencies, unsigned int flags) {
    return cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, numDependencies, flags);
}
#endif

CUDART_CPU_API cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return api("cudaThreadExchangeStreamCaptureMode", [&] {
        require_pointer(mode, "mode");
        require_mode(*mode);
        *mode = exchange_capture_mode(*mode);
    });
}
