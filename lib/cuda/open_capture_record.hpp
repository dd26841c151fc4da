// The record of an open capture, shared by its thread and its steps.
#pragma once

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cudag::detail {

struct OpenCaptureRecord {
    struct Step {
        std::string_view label;
        SourceLocation location;
    };

    OpenCaptureRecord(cudaStream_t captured, const SourceLocation& begun_at, const char* capture_mode)
        : stream(captured), location(begun_at), mode(capture_mode) {}

    cudaStream_t stream;
    SourceLocation location;
    const char* mode;
    std::atomic<bool> has_ended = false;
    std::mutex mutex; ///< guards the rest: another thread may use a relaxed capture
    std::vector<Step> steps;
    std::string refused;
    std::atomic<bool> allows_legacy_stream = false;
};

} // namespace cudag::detail
