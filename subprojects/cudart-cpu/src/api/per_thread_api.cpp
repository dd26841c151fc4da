// The variants for code compiled for per-thread default streams: their default stream is cudaStreamPerThread.
#include "runtime/call.hpp"
#include "runtime/same_parameters.hpp"
#include "stream/stream.hpp"

#include <type_traits>

// CUDA deprecates some of them, but programs call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace cudart_cpu::detail;

/// Defines `function`_ptsz, or `function`_ptds for a synchronous one, with the `count` parameters of `function`.
#define PER_THREAD(function, suffix, count)                                                                            \
    CUDART_CPU_API cudaError_t function##_##suffix(CUDART_CPU_PARAMETERS_##count(function)) {                          \
        const PerThreadDefault here;                                                                                   \
        return function(CUDART_CPU_ARGUMENTS_##count());                                                               \
    }                                                                                                                  \
    static_assert(std::is_same_v<decltype(function##_##suffix), decltype(function)>)

PER_THREAD(cudaEventRecord, ptsz, 2);
PER_THREAD(cudaEventRecordWithFlags, ptsz, 3);
PER_THREAD(cudaFreeAsync, ptsz, 2);
PER_THREAD(cudaGetDriverEntryPoint, ptsz, 4);
PER_THREAD(cudaGraphInstantiateWithParams, ptsz, 3);
PER_THREAD(cudaGraphLaunch, ptsz, 2);
PER_THREAD(cudaGraphUpload, ptsz, 2);
PER_THREAD(cudaLaunchCooperativeKernel, ptsz, 6);
PER_THREAD(cudaLaunchHostFunc, ptsz, 3);
PER_THREAD(cudaLaunchKernel, ptsz, 6);
PER_THREAD(cudaLaunchKernelExC, ptsz, 3);
PER_THREAD(cudaMallocAsync, ptsz, 3);
PER_THREAD(cudaMallocFromPoolAsync, ptsz, 4);
PER_THREAD(cudaMemcpy, ptds, 4);
PER_THREAD(cudaMemcpy2D, ptds, 7);
PER_THREAD(cudaMemcpy2DArrayToArray, ptds, 9);
PER_THREAD(cudaMemcpy2DAsync, ptsz, 8);
PER_THREAD(cudaMemcpy2DFromArray, ptds, 8);
PER_THREAD(cudaMemcpy2DFromArrayAsync, ptsz, 9);
PER_THREAD(cudaMemcpy2DToArray, ptds, 8);
PER_THREAD(cudaMemcpy2DToArrayAsync, ptsz, 9);
PER_THREAD(cudaMemcpy3D, ptds, 1);
PER_THREAD(cudaMemcpy3DAsync, ptsz, 2);
PER_THREAD(cudaMemcpy3DPeer, ptds, 1);
PER_THREAD(cudaMemcpy3DPeerAsync, ptsz, 2);
PER_THREAD(cudaMemcpyArrayToArray, ptds, 8);
PER_THREAD(cudaMemcpyAsync, ptsz, 5);
PER_THREAD(cudaMemcpyFromArray, ptds, 6);
PER_THREAD(cudaMemcpyFromArrayAsync, ptsz, 7);
PER_THREAD(cudaMemcpyFromSymbol, ptds, 5);
PER_THREAD(cudaMemcpyFromSymbolAsync, ptsz, 6);
PER_THREAD(cudaMemcpyToArray, ptds, 6);
PER_THREAD(cudaMemcpyToArrayAsync, ptsz, 7);
PER_THREAD(cudaMemcpyToSymbol, ptds, 5);
PER_THREAD(cudaMemcpyToSymbolAsync, ptsz, 6);
PER_THREAD(cudaMemset, ptds, 3);
PER_THREAD(cudaMemset2D, ptds, 5);
PER_THREAD(cudaMemset2DAsync, ptsz, 6);
PER_THREAD(cudaMemset3D, ptds, 3);
PER_THREAD(cudaMemset3DAsync, ptsz, 4);
PER_THREAD(cudaMemsetAsync, ptsz, 4);
PER_THREAD(cudaStreamAddCallback, ptsz, 4);
PER_THREAD(cudaStreamAttachMemAsync, ptsz, 4);
PER_THREAD(cudaStreamBeginCapture, ptsz, 2);
PER_THREAD(cudaStreamBeginCaptureToGraph, ptsz, 6);
PER_THREAD(cudaStreamCopyAttributes, ptsz, 2);
PER_THREAD(cudaStreamEndCapture, ptsz, 2);
PER_THREAD(cudaStreamGetAttribute, ptsz, 3);
PER_THREAD(cudaStreamGetFlags, ptsz, 2);
PER_THREAD(cudaStreamGetId, ptsz, 2);
PER_THREAD(cudaStreamGetPriority, ptsz, 2);
PER_THREAD(cudaStreamIsCapturing, ptsz, 2);
PER_THREAD(cudaStreamQuery, ptsz, 1);
PER_THREAD(cudaStreamSetAttribute, ptsz, 3);
PER_THREAD(cudaStreamSynchronize, ptsz, 1);
PER_THREAD(cudaStreamWaitEvent, ptsz, 3);

#if CUDART_VERSION >= 12080
PER_THREAD(cudaGetDriverEntryPointByVersion, ptsz, 5);
PER_THREAD(cudaStreamGetDevice, ptsz, 2);
#endif

// These have other parameters in CUDA 12 than in CUDA 13.
#if CUDART_VERSION < 13000
PER_THREAD(cudaMemPrefetchAsync, ptsz, 4);
PER_THREAD(cudaMemPrefetchAsync_v2, ptsz, 5);
PER_THREAD(cudaSignalExternalSemaphoresAsync_v2, ptsz, 4);
PER_THREAD(cudaStreamGetCaptureInfo_v2, ptsz, 6);
PER_THREAD(cudaStreamGetCaptureInfo_v3, ptsz, 7);
PER_THREAD(cudaStreamUpdateCaptureDependencies, ptsz, 4);
PER_THREAD(cudaStreamUpdateCaptureDependencies_v2, ptsz, 5);
PER_THREAD(cudaWaitExternalSemaphoresAsync_v2, ptsz, 4);
#endif

#if CUDART_VERSION >= 12080 && CUDART_VERSION < 13000
PER_THREAD(cudaMemcpy3DBatchAsync, ptsz, 5);
PER_THREAD(cudaMemcpyBatchAsync, ptsz, 9);
#endif

#if CUDART_VERSION >= 13000
PER_THREAD(cudaMemDiscardAndPrefetchBatchAsync, ptsz, 8);
PER_THREAD(cudaMemDiscardBatchAsync, ptsz, 5);
PER_THREAD(cudaMemPrefetchAsync, ptsz, 5);
PER_THREAD(cudaMemPrefetchBatchAsync, ptsz, 8);
PER_THREAD(cudaMemcpy3DBatchAsync, ptsz, 4);
PER_THREAD(cudaMemcpyBatchAsync, ptsz, 8);
PER_THREAD(cudaSignalExternalSemaphoresAsync, ptsz, 4);
PER_THREAD(cudaStreamGetCaptureInfo, ptsz, 7);
PER_THREAD(cudaStreamUpdateCaptureDependencies, ptsz, 5);
PER_THREAD(cudaWaitExternalSemaphoresAsync, ptsz, 4);
#endif
