// A source of times: records the runs of the nodes of an exec.
#pragma once

#include "run_record.hpp"

#include <cudag/profile.hpp>

#include <cuda_runtime_api.h>

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
    /// Ends the recording, and returns the records. The launches must have ended. Throws Error.
    [[nodiscard]] virtual std::vector<RunRecord> finish() = 0;
};

/// The handles of the nodes of an exec, in the order of the profiled nodes: those of the graph that it was made from,
/// and of the graphs inside.
struct NativeNodes {
    cudaGraphExec_t exec;
    std::vector<cudaGraphNode_t> nodes{};
};

/// Begins a recording with the clock of the CPU runtime; null if the program has another runtime.
[[nodiscard]] std::unique_ptr<TimeSource> record_cpu_times(const NativeNodes& natives);

} // namespace cudag::detail
