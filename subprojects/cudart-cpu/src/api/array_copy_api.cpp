// cudaMemcpy2D* to, from and between arrays.
#include "memory/arrays.hpp"
#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "submit/copy_submit.hpp"

using namespace cudart_cpu::detail;

namespace {

/// Converts bytes, as counted by these calls, to elements of the array; a remainder is ignored.
std::size_t elements(cudaArray_const_t array, std::size_t bytes) {
    return bytes / array_of(array)->element_bytes;
}

/// Checks the copy's kind: of the kinds between host and device, only `with_host` fits.
void require_kind(cudaMemcpyKind kind, cudaMemcpyKind with_host) {
    if (kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
        fail(cudaErrorInvalidMemcpyDirection, text("copy kind ", number_in(kind), " leaves no side for the array"));
    }
}

/// A place in an array, `x` in bytes.
struct EndOfCopy {
    cudaArray_const_t array;
    std::size_t x;
    std::size_t y;

    [[nodiscard]] cudaPos position() const { return {elements(array, x), y, 0}; }
    [[nodiscard]] cudaArray_t handle() const { return const_cast<cudaArray_t>(array); }
};

/// Pitched memory.
struct Matrix {
    const void* data;
    std::size_t pitch;

    [[nodiscard]] cudaPitchedPtr pointer(std::size_t width, std::size_t height) const {
        if (width > pitch) {
            fail(cudaErrorInvalidPitchValue, text("width ", width, " is more than the pitch ", pitch));
        }
        return {const_cast<void*>(data), pitch, width, height};
    }
};

cudaMemcpy3DParms to_array(const EndOfCopy& to, const Matrix& from, std::size_t width, std::size_t height,
                           cudaMemcpyKind kind) {
    require_kind(kind, cudaMemcpyHostToDevice);
    cudaMemcpy3DParms copy{};
    copy.dstArray = to.handle();
    copy.dstPos = to.position();
    copy.srcPtr = from.pointer(width, height);
    copy.extent = {elements(to.array, width), height, 1};
    copy.kind = kind;
    return copy;
}

cudaMemcpy3DParms from_array(const Matrix& to, const EndOfCopy& from, std::size_t width, std::size_t height,
                             cudaMemcpyKind kind) {
    require_kind(kind, cudaMemcpyDeviceToHost);
    cudaMemcpy3DParms copy{};
    copy.dstPtr = to.pointer(width, height);
    copy.srcArray = from.handle();
    copy.srcPos = from.position();
    copy.extent = {elements(from.array, width), height, 1};
    copy.kind = kind;
    return copy;
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                               const void* src, std::size_t spitch, std::size_t width,
                                               std::size_t height, cudaMemcpyKind kind) {
    return api("cudaMemcpy2DToArray", [&] {
        submit_copy(to_array({dst, wOffset, hOffset}, {src, spitch}, width, height, kind), stream_of(nullptr),
                    CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                                    const void* src, std::size_t spitch, std::size_t width,
                                                    std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return api("cudaMemcpy2DToArrayAsync", [&] {
        submit_copy(to_array({dst, wOffset, hOffset}, {src, spitch}, width, height, kind), stream_of(stream),
                    CopyCall::asynchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy2DFromArray(void* dst, std::size_t dpitch, cudaArray_const_t src,
                                                 std::size_t wOffset, std::size_t hOffset, std::size_t width,
                                                 std::size_t height, cudaMemcpyKind kind) {
    return api("cudaMemcpy2DFromArray", [&] {
        submit_copy(from_array({dst, dpitch}, {src, wOffset, hOffset}, width, height, kind), stream_of(nullptr),
                    CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, std::size_t dpitch, cudaArray_const_t src,
                                                      std::size_t wOffset, std::size_t hOffset, std::size_t width,
                                                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return api("cudaMemcpy2DFromArrayAsync", [&] {
        submit_copy(from_array({dst, dpitch}, {src, wOffset, hOffset}, width, height, kind), stream_of(stream),
                    CopyCall::asynchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, std::size_t wOffsetDst, std::size_t hOffsetDst,
                                                    cudaArray_const_t src, std::size_t wOffsetSrc,
                                                    std::size_t hOffsetSrc, std::size_t width, std::size_t height,
                                                    cudaMemcpyKind kind) {
    return api("cudaMemcpy2DArrayToArray", [&] {
        const EndOfCopy to{dst, wOffsetDst, hOffsetDst};
        const EndOfCopy from{src, wOffsetSrc, hOffsetSrc};
        cudaMemcpy3DParms copy{};
        copy.dstArray = to.handle();
        copy.dstPos = to.position();
        copy.srcArray = from.handle();
        copy.srcPos = from.position();
        copy.extent = {elements(src, width), height, 1};
        copy.kind = kind;
        submit_copy(copy, stream_of(nullptr), CopyCall::synchronous);
    });
}
