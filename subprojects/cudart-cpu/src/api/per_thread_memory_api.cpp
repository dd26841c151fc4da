// The copies and fills of code that was compiled for per-thread default streams: the same functions, for which the
// default stream is cudaStreamPerThread.
#include "runtime/call.hpp"
#include "stream/stream.hpp"

// CUDA advises against some of them, but programs call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaMemcpy_ptds(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpy(dst, src, count, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpy2D_ptds(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                                             std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpy2D(dst, dpitch, src, spitch, width, height, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t dst, std::size_t wOffsetDst,
                                                         std::size_t hOffsetDst, cudaArray_const_t src,
                                                         std::size_t wOffsetSrc, std::size_t hOffsetSrc,
                                                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpy2DArrayToArray(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpy2DAsync_ptsz(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                                                  std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpy2DFromArray_ptds(void* dst, std::size_t dpitch, cudaArray_const_t src,
                                                      std::size_t wOffset, std::size_t hOffset, std::size_t width,
                                                      std::size_t height, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpy2DFromArray(dst, dpitch, src, wOffset, hOffset, width, height, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* dst, std::size_t dpitch, cudaArray_const_t src,
                                                           std::size_t wOffset, std::size_t hOffset, std::size_t width,
                                                           std::size_t height, cudaMemcpyKind kind,
                                                           cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpy2DFromArrayAsync(dst, dpitch, src, wOffset, hOffset, width, height, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                                    const void* src, std::size_t spitch, std::size_t width,
                                                    std::size_t height, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpy2DToArray(dst, wOffset, hOffset, src, spitch, width, height, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                                         const void* src, std::size_t spitch, std::size_t width,
                                                         std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpy2DToArrayAsync(dst, wOffset, hOffset, src, spitch, width, height, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* p) {
    const PerThreadDefault here;
    return cudaMemcpy3D(p);
}

CUDART_CPU_API cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* p, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpy3DAsync(p, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* p) {
    const PerThreadDefault here;
    return cudaMemcpy3DPeer(p);
}

CUDART_CPU_API cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpy3DPeerAsync(p, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t dst, std::size_t wOffsetDst, std::size_t hOffsetDst,
                                                       cudaArray_const_t src, std::size_t wOffsetSrc,
                                                       std::size_t hOffsetSrc, std::size_t count, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpyArrayToArray(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, count, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpyAsync_ptsz(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind,
                                                cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpyAsync(dst, src, count, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpyFromArray_ptds(void* dst, cudaArray_const_t src, std::size_t wOffset,
                                                    std::size_t hOffset, std::size_t count, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpyFromArray(dst, src, wOffset, hOffset, count, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* dst, cudaArray_const_t src, std::size_t wOffset,
                                                         std::size_t hOffset, std::size_t count, cudaMemcpyKind kind,
                                                         cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpyFromArrayAsync(dst, src, wOffset, hOffset, count, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpyFromSymbol_ptds(void* dst, const void* symbol, std::size_t count,
                                                     std::size_t offset, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpyFromSymbol(dst, symbol, count, offset, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* dst, const void* symbol, std::size_t count,
                                                          std::size_t offset, cudaMemcpyKind kind,
                                                          cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpyToArray_ptds(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                                  const void* src, std::size_t count, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpyToArray(dst, wOffset, hOffset, src, count, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                                       const void* src, std::size_t count, cudaMemcpyKind kind,
                                                       cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpyToArrayAsync(dst, wOffset, hOffset, src, count, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* src, std::size_t count,
                                                   std::size_t offset, cudaMemcpyKind kind) {
    const PerThreadDefault here;
    return cudaMemcpyToSymbol(symbol, src, count, offset, kind);
}

CUDART_CPU_API cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* src, std::size_t count,
                                                        std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, stream);
}

CUDART_CPU_API cudaError_t cudaMemset_ptds(void* devPtr, int value, std::size_t count) {
    const PerThreadDefault here;
    return cudaMemset(devPtr, value, count);
}

CUDART_CPU_API cudaError_t cudaMemset2D_ptds(void* devPtr, std::size_t pitch, int value, std::size_t width,
                                             std::size_t height) {
    const PerThreadDefault here;
    return cudaMemset2D(devPtr, pitch, value, width, height);
}

CUDART_CPU_API cudaError_t cudaMemset2DAsync_ptsz(void* devPtr, std::size_t pitch, int value, std::size_t width,
                                                  std::size_t height, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemset2DAsync(devPtr, pitch, value, width, height, stream);
}

CUDART_CPU_API cudaError_t cudaMemset3D_ptds(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent) {
    const PerThreadDefault here;
    return cudaMemset3D(pitchedDevPtr, value, extent);
}

CUDART_CPU_API cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent,
                                                  cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemset3DAsync(pitchedDevPtr, value, extent, stream);
}

CUDART_CPU_API cudaError_t cudaMemsetAsync_ptsz(void* devPtr, int value, std::size_t count, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemsetAsync(devPtr, value, count, stream);
}
