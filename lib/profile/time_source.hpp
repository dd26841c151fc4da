// A source of times: records the runs of the nodes of an exec.
#pragma once

#include "profiled_nodes.hpp"
#include "run_record.hpp"

#include <cudag/exec.hpp>
#include <cudag/profile.hpp>
#include <cudag/stream.hpp>

#include <memory>
#include <vector>

namespace cudag::detail {

/// A recording of the launches of one exec, from its construction to `finish` or its destruction.
class TimeSource {
  public:
    TimeSource() = default;
    TimeSource(const TimeSource&) = delete;
    TimeSource& operator=(const TimeSource&) = delete;
    virtual ~TimeSource() = default;

    [[nodiscard]] virtual ProfileSource name() const noexcept = 0;
    /// Launches `exec` in `stream`. Throws as `Exec::launch` does.
    virtual void launch(Exec& exec, StreamRef stream) { exec.launch(stream); }
    /// Ends the recording, and returns the records. The launches must have ended. Throws Error.
    [[nodiscard]] virtual std::vector<RunRecord> finish() = 0;
    /// Returns the turns of loops in the records. Call it after `finish`.
    [[nodiscard]] virtual Turns turns() const noexcept = 0;
    [[nodiscard]] virtual Scope scope() const noexcept { return Scope::inside; }
};

/// Begins a recording with the clock of the CPU runtime; null if the program has another runtime.
[[nodiscard]] std::unique_ptr<TimeSource> record_cpu_times(const ExecNodes& nodes);

/// Begins a recording with CUPTI; defined only if cudag is built with it. `nodes` must outlive the recording. Throws
/// Error if CUPTI is not found, or another profiler uses it.
[[nodiscard]] std::unique_ptr<TimeSource> record_cupti_times(const ExecNodes& nodes);

/// Begins a recording with events. Throws Error if the graph cannot be copied, or the copy would run otherwise.
[[nodiscard]] std::unique_ptr<TimeSource> record_event_times(const ExecNodes& nodes, const ExecState& exec);

} // namespace cudag::detail
