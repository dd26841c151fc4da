// cudaMemcpy*, 1D to 3D, on the legacy default stream or a given one.
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"
#include "submit/copy_submit.hpp"

using namespace cudart_cpu::detail;

namespace {

cudaMemcpy3DParms checked_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                             std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    if (width > dst_pitch || width > src_pitch) {
        fail(cudaErrorInvalidPitchValue,
             text("width ", width, " is more than a pitch: destination ", dst_pitch, ", source ", src_pitch));
    }
    return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind);
}

/// The driver has one function per direction; its log shows their names.
const char* async_copy_name(cudaMemcpyKind kind) {
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return "cuMemcpyHtoDAsync_v2";
    case cudaMemcpyDeviceToHost:
        return "cuMemcpyDtoHAsync_v2";
    case cudaMemcpyDeviceToDevice:
        return "cuMemcpyDtoDAsync_v2";
    default:
        return "cudaMemcpyAsync";
    }
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemcpy(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind) {
    return api("cudaMemcpy",
               [&] { submit_copy(copy_1d(dst, src, count, kind), stream_of(nullptr), CopyCall::synchronous); });
}

CUDART_CPU_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
    return api(async_copy_name(kind), [&] {
        submit_copy(copy_1d(dst, src, count, kind), stream_of(stream), CopyCall::asynchronous, CopyForm::line);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy2D(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                                        std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    return api("cudaMemcpy2D", [&] {
        submit_copy(checked_2d(dst, dpitch, src, spitch, width, height, kind), stream_of(nullptr),
                    CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy2DAsync(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                                             std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                             cudaStream_t stream) {
    return api("cudaMemcpy2DAsync", [&] {
        submit_copy(checked_2d(dst, dpitch, src, spitch, width, height, kind), stream_of(stream),
                    CopyCall::asynchronous, CopyForm::rows);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
    return api("cudaMemcpy3D", [&] {
        require_pointer(p, "p");
        submit_copy(*p, stream_of(nullptr), CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
    return api("cudaMemcpy3DAsync", [&] {
        require_pointer(p, "p");
        submit_copy(*p, stream_of(stream), CopyCall::asynchronous);
    });
}
