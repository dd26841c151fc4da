// The state behind SegmentedGraph: segments, breaks, and what must outlive their work.
#pragma once

#include "captured_segments.hpp"
#include "exec/cache_content.hpp"
#include "owners/in_flight.hpp"

#include <cudag/exec.hpp>
#include <cudag/exec_cache.hpp>
#include <cudag/segmented_graph.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

class SegmentedState {
  public:
    /// Instantiates the graphs, unless Execs are shared. Throws InstantiateError.
    SegmentedState(CapturedSegments&& captured, const SegmentOptions& options);
    /// Waits for nothing, except with shared Execs: ExecCache waits for its launches.
    ~SegmentedState();
    SegmentedState(const SegmentedState&) = delete;
    SegmentedState& operator=(const SegmentedState&) = delete;

    void launch(cudaStream_t stream);

    [[nodiscard]] const CapturedSegments& parts() const noexcept { return parts_; }
    [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; }
    [[nodiscard]] const Graph& graph(std::size_t index) const;
    [[nodiscard]] Exec& exec(std::size_t index);
    [[nodiscard]] SegmentedReport report() const;
    [[nodiscard]] CacheContent content() const;

  private:
    /// Marks the end of the work of a launch, also of one that ends with an exception.
    class Launch;

    void require_segment(std::size_t index) const;
    void launch_segment(std::size_t index, cudaStream_t stream);

    CapturedSegments parts_;
    std::vector<Exec> execs_; ///< empty if shared
    std::optional<ExecCache> shared_;
    std::vector<std::uint64_t> runs_; ///< completed calls, by break
    std::uint64_t launches_ = 0;
    /// The owners and functions: work of a break may use them after the last segment has ended. Empty without breaks:
    /// the Execs keep their graphs' owners.
    OwnerVersions kept_;
    InFlight in_flight_; ///< launches, if there is something in `kept_`
};

} // namespace cudag::detail
