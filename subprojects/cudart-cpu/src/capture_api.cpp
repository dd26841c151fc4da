// Questions about stream capture: no stream of this runtime captures.
#include "call.hpp"
#include "stream.hpp"

#include <utility>

using namespace cudart_cpu::detail;

namespace {

thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;

} // namespace

CUDART_CPU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return api("cudaStreamIsCapturing", [&] {
        require_pointer(status, "pCaptureStatus");
        stream_of(stream);
        *status = cudaStreamCaptureStatusNone;
    });
}

// Before CUDA 13 the header gives this name to an older signature.
#if CUDART_VERSION < 13000
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3

CUDART_CPU_API cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                       unsigned long long* id, cudaGraph_t* graph,
                                                       const cudaGraphNode_t** dependencies, std::size_t* count) {
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}
#endif

CUDART_CPU_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                    unsigned long long*, cudaGraph_t*, const cudaGraphNode_t**,
                                                    const cudaGraphEdgeData**, std::size_t*) {
    return api("cudaStreamGetCaptureInfo", [&] {
        require_pointer(status, "captureStatus_out");
        stream_of(stream);
        *status = cudaStreamCaptureStatusNone;
    });
}

CUDART_CPU_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return api("cudaThreadExchangeStreamCaptureMode", [&] {
        require_pointer(mode, "mode");
        if (*mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) {
            fail(cudaErrorInvalidValue, "the capture mode is unknown");
        }
        *mode = std::exchange(capture_mode, *mode);
    });
}
