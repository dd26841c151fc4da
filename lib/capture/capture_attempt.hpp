// An attempt to capture a function that may run eagerly instead.
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

/// What an attempt needs but the function.
struct AttemptSetup {
    CaptureMode mode;
    bool refuse_legacy_stream;
    const InstantiateOptions& instantiate;
    const SourceLocation& location;
    std::span<const DeviceSpan<std::byte>> buffers = {}; ///< that replays are to find elsewhere
};

class CaptureAttempt {
  public:
    /// Calls `function` once, in a capture of `stream`, and instantiates what it records; the graph keeps what it
    /// returns. Throws what has nothing to do with that.
    CaptureAttempt(cudaStream_t stream, const AttemptSetup& setup,
                   const std::function<std::shared_ptr<const void>(Steps&)>& function);

    /// Whether the function is yet to run. One that recorded nothing has done all that it does.
    [[nodiscard]] bool must_run() const noexcept { return error && !recorded_nothing_; }

    std::optional<Exec> exec;
    std::vector<std::optional<BufferParam<std::byte>>> buffers; ///< of the exec; none where it does not use one
    std::optional<Error> error;                                 ///< unless there is an exec

  private:
    void find_buffers(const Graph& graph, std::span<const DeviceSpan<std::byte>> given);

    bool recorded_nothing_ = false;
};

} // namespace cudag::detail
