// An attempt to capture a function that may run eagerly instead.
#pragma once

#include <cudag/capture_mode.hpp>
#include <cudag/error.hpp>
#include <cudag/exec.hpp>
#include <cudag/source_location.hpp>
#include <cudag/steps.hpp>

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <optional>

namespace cudag::detail {

/// What an attempt needs but the function.
struct AttemptSetup {
    CaptureMode mode;
    bool refuse_legacy_stream;
    const InstantiateOptions& instantiate;
    const SourceLocation& location;
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
    std::optional<Error> error; ///< unless there is an exec

  private:
    bool recorded_nothing_ = false;
};

} // namespace cudag::detail
