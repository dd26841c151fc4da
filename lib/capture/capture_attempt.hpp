// Attempts to capture functions that may run eagerly instead.
#pragma once

#include <cudag/buffer_param.hpp>
#include <cudag/capture_mode.hpp>
#include <cudag/error.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>
#include <cudag/steps.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cudag::detail {

/// The inputs of an attempt, except the function.
struct AttemptSetup {
    CaptureMode mode;
    bool refuse_legacy_stream;
    const InstantiateOptions& instantiate;
    const SourceLocation& location;
    std::span<const DeviceSpan<std::byte>> buffers = {}; ///< replays use others in their place
    bool allow_empty = false;                            ///< whether the function may record nothing
};

using AttemptedFunction = std::function<std::shared_ptr<const void>(Steps&)>;

/// The graph of a captured function, or the failure of its capture.
struct RecordedFunction {
    std::optional<Graph> graph;
    std::optional<Error> error;    ///< unless there is a graph
    bool recorded_nothing = false; ///< the reason for the error
};

class CaptureAttempt {
  public:
    /// Calls `function` once, in a capture of `stream`, and instantiates the recorded graph, which keeps the function's
    /// result. Failures of this go to `error`; all other exceptions are thrown.
    CaptureAttempt(cudaStream_t stream, const AttemptSetup& setup, const AttemptedFunction& function);

    /// Calls `function` once, in a capture of `stream`. The graph keeps the function's result. Throws the function's
    /// own exceptions.
    [[nodiscard]] static RecordedFunction record(cudaStream_t stream, const AttemptSetup& setup,
                                                 const AttemptedFunction& function);

    /// Whether the function is yet to run. If it recorded nothing, all its work is already done.
    [[nodiscard]] bool must_run() const noexcept { return error && !recorded_nothing_; }

    std::optional<Exec> exec;
    std::vector<std::optional<BufferParam<std::byte>>> buffers; ///< of the exec; none for one it does not use
    std::optional<Error> error;                                 ///< unless there is an exec
    std::size_t bytes = 0;                                      ///< device memory of the exec, estimated

  private:
    void find_buffers(const Graph& graph, std::span<const DeviceSpan<std::byte>> given);

    bool recorded_nothing_ = false;
};

} // namespace cudag::detail
