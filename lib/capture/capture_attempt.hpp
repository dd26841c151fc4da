// Attempts to capture functions that may run eagerly instead.
#pragma once

#include "cuda/made_memory.hpp"
#include "segments/captured_segments.hpp"
#include "step_items.hpp"
#include "step_walk.hpp"

#include <cudag/buffer_param.hpp>
#include <cudag/capture_mode.hpp>
#include <cudag/error.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/segmented_graph.hpp>
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
    bool is_cached = false; ///< whether replays call the function, and so need its steps; else breaks keep functions
    std::vector<LearnedBreak> learned = {};              ///< of a cached function
    const std::shared_ptr<const void>* result = nullptr; ///< of a cached function, null for none, after its call
};

using AttemptedFunction = std::function<std::shared_ptr<const void>(Steps&)>;

/// The graph of a captured function, or its parts, or the failure of its capture.
struct RecordedFunction {
    std::optional<Graph> graph{};
    std::optional<CapturedSegments> parts{}; ///< of a function with breaks
    std::vector<StepItem> items{};           ///< of a cached function with breaks
    std::optional<Error> error{};            ///< unless there is a graph, or there are parts
    bool recorded_nothing = false;           ///< the reason for the error
    std::optional<LearnedBreak> failed{};    ///< the step of a cached function that failed
    std::vector<MadeBlock> made{};           ///< memory made by a cached function
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

    /// Finds the uses of `given` by the nodes of `graph`. Throws UpdateError if an exec could not exchange them.
    [[nodiscard]] static RunBuffers find_buffers(const Graph& graph, std::span<const DeviceSpan<std::byte>> given);

    std::optional<Exec> exec;
    RunBuffers buffers;                     ///< of the exec
    std::shared_ptr<WalkedSteps> walked;    ///< of a cached function with breaks; null otherwise
    std::optional<SegmentedGraph> segments; ///< of another function with breaks
    std::optional<Error> error;             ///< if there is neither of these
    std::optional<LearnedBreak> failed;     ///< as in RecordedFunction
    std::vector<MadeBlock> made;            ///< likewise
    std::size_t bytes = 0;                  ///< device memory of the execs, estimated

  private:
    bool recorded_nothing_ = false;
};

/// The device memory of an exec of `graph`, estimated by CUDA's count of its nodes, as if in one branch: their records
/// may not have been read. With an exec, its plan tells the branches if it has changed the edges.
[[nodiscard]] std::size_t estimated_bytes(const Graph& graph);
[[nodiscard]] std::size_t estimated_bytes(const Graph& graph, const Exec& exec);

} // namespace cudag::detail
