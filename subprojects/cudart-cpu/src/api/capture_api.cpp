// cudaStream*Capture* and cudaThreadExchangeStreamCaptureMode.
#include "capture/capture.hpp"
#include "capture/capture_rules.hpp"
#include "graph/graph_cuda12.hpp"
#include "graph/graph_params.hpp"
#include "runtime/number_in.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

void require_mode(cudaStreamCaptureMode mode) {
    if (const int number = number_in(mode);
        number < cudaStreamCaptureModeGlobal || number > cudaStreamCaptureModeRelaxed)
        fail(cudaErrorInvalidValue, text("capture mode ", number, " is unknown"));
}

/// Returns the stream if it can begin a capture; throws Failure otherwise.
Stream& idle_stream_of(cudaStream_t handle) {
    Stream& stream = stream_of(handle);
    if (is_legacy(stream)) fail(cudaErrorStreamCaptureUnsupported, {});
    if (stream.capture()) fail(cudaErrorIllegalState, {});
    return stream;
}

/// Returns edges from `nodes` of `graph` to a node not known yet.
CaptureFront front_of(const Graph& graph, const cudaGraphNode_t* nodes, const cudaGraphEdgeData* data,
                      std::size_t count) {
    if (count > 0) require_pointer(nodes, "dependencies");
    CaptureFront front;
    for (std::size_t i = 0; i < count; ++i) {
        const Node& node = *dependencies_of(graph, nodes + i, 1).front();
        if (data) require_valid_edge(data[i], {node.work->type(), cudaGraphNodeTypeKernel}, i);
        front.add(nodes[i], data ? data[i] : cudaGraphEdgeData{});
    }
    return front;
}

[[noreturn]] void fail_not_capturing() {
    fail(cudaErrorIllegalState, "Stream is not actively capturing");
}

/// Ends the capture; a failed one ends, too, without a graph.
std::shared_ptr<const Capture> end(Stream& stream) {
    std::shared_ptr<Capture> capture = stream.capture();
    if (!capture) fail_not_capturing();
    if (&capture->origin() != &stream) {
        capture->invalidate();
        fail(cudaErrorStreamCaptureUnmatched, "Capture was not initiated on hStream");
    }
    try {
        if (!capture->is_valid())
            fail(cudaErrorStreamCaptureInvalidated, "Capture was invalidated by a prior API call");
        if (!capture->is_joined())
            fail(cudaErrorStreamCaptureUnjoined,
                 "Capture sequence contains a fork that was not joined to the primary stream");
        if (capture->mode() != cudaStreamCaptureModeRelaxed && !capture->is_of_this_thread())
            fail(cudaErrorStreamCaptureWrongThread,
                 "CU_STREAM_CAPTURE_MODE_RELAXED is required to begin and end the capture on different threads");
        capture->graph()->make_sinks(capture->before(stream));
    } catch (...) { // catches lack of memory, too
        drop_capture(capture);
        throw;
    }
    end_capture(capture);
    return capture;
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
        if (target->is_captured_to) fail(cudaErrorIllegalState, {});
        const CaptureFront front = front_of(*target, dependencies, dependencyData, numDependencies);
        begin_capture(std::make_shared<Capture>(origin, mode, std::move(target), false), front);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
    return graph_api("cudaStreamEndCapture", [&] {
        // As in CUDA, a null `pGraph` discards the graph, and a failure sets `*pGraph` to null.
        if (pGraph) *pGraph = nullptr;
        const std::shared_ptr<const Capture> ended = end(stream_of(stream));
        if (pGraph)
            *pGraph = ended->graph()->handle();
        else if (ended->makes_graph())
            destroy_graph(ended->graph()->handle());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return graph_api("cudaStreamIsCapturing", [&] {
        require_pointer(status, "pCaptureStatus");
        *status = capture_status_of(stream_of(stream));
    });
}

// Before CUDA 13 the header gives these names to older signatures.
CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                              unsigned long long* id, cudaGraph_t* graph,
                                                              const cudaGraphNode_t** dependencies,
                                                              const cudaGraphEdgeData** edgeData, size_t* count) {
    return graph_api("cudaStreamGetCaptureInfo", [&] {
        require_pointer(status, "captureStatus_out");
        if (edgeData && !dependencies) fail(cudaErrorInvalidValue, {});
        Stream& asked = stream_of(stream);
        const cudaStreamCaptureStatus current = capture_status_of(asked);
        if (current == cudaStreamCaptureStatusActive) {
            Capture& capture = *asked.capture();
            const CaptureFront& front = capture.front_of(asked);
            if (id) *id = capture.id();
            if (graph) *graph = capture.graph()->handle();
            if (dependencies && !edgeData && !std::ranges::all_of(front.data, is_ordinary))
                fail(cudaErrorLossyQuery, {});
            if (dependencies) *dependencies = front.nodes.data();
            if (edgeData) *edgeData = front.data.data();
            if (count) *count = front.nodes.size();
        }
        *status = current;
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                         cudaGraphNode_t* dependencies,
                                                                         const cudaGraphEdgeData* dependencyData,
                                                                         size_t numDependencies, unsigned int flags) {
    return graph_api("cudaStreamUpdateCaptureDependencies", [&] {
        Stream& updated = stream_of(stream);
        if (flags != cudaStreamAddCaptureDependencies && flags != cudaStreamSetCaptureDependencies)
            fail(cudaErrorInvalidValue, {});
        if (!updated.capture()) fail_not_capturing();
        const std::shared_ptr<Capture> capture = active_capture_of(updated);
        CaptureFront next = front_of(*capture->graph(), dependencies, dependencyData, numDependencies);
        CaptureFront& front = capture->front_of(updated);
        if (flags == cudaStreamAddCaptureDependencies)
            front.add(next);
        else
            front = std::move(next);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return api("cudaThreadExchangeStreamCaptureMode", [&] {
        require_pointer(mode, "mode");
        // As in CUDA, any number is accepted.
        *mode = exchange_capture_mode(*mode);
    });
}
