// The capture mode of the calling thread.
#pragma once

#include <catch.hpp>
#include <cuda_runtime_api.h>

inline cudaStreamCaptureMode capture_mode() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
    cudaStreamCaptureMode back = mode;
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&back) == cudaSuccess);
    return mode;
}
