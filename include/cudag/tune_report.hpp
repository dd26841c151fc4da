// TuneReport: the measurements of `tune`, and its choice.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/measured_time.hpp>
#include <cudag/plan.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// The time that `tune` minimises.
enum class TuneGoal : char {
    interval,    ///< time between launches in direct succession: the longer one of launch call and GPU time
    gpu_time,    ///< time of a single launch, from before its call to its end
    launch_call, ///< time for which the launch blocks the calling thread
};

/// Returns "interval", "GPU time" or "launch call".
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(TuneGoal goal) noexcept;

/// A time measured by `tune`.
using TuneTime = MeasuredTime;

/// The measurements of one candidate of `tune`.
struct TuneRow {
    std::string name; ///< "default", "as written", "reduce + joins", "default, 4 lanes"
    Plan plan;
    std::size_t nodes; ///< number of CUDA's nodes, including empty kernels and nodes of inner graphs
    std::size_t edges; ///< number of CUDA's edges, including edges of empty kernels and inner graphs
    TuneTime launch_call;
    TuneTime gpu_time;
    TuneTime interval;
    /// The row of an earlier candidate with the same CUDA edges: both were measured once, and have the same times.
    std::optional<std::size_t> same_as = std::nullopt;
    std::size_t rounds = 0; ///< number of samples of each time

    [[nodiscard]] const TuneTime& of(TuneGoal goal) const noexcept {
        return goal == TuneGoal::interval ? interval : goal == TuneGoal::gpu_time ? gpu_time : launch_call;
    }
};

/// The measurements of `tune`, in the order of the candidates.
///
///     cudag::TuneReport report = cudag::tune(graph, stream).report;
///     std::puts(report.to_string().c_str());
///     double best = report.chosen().of(report.goal()).median; // microseconds
class CUDAG_EXPORT TuneReport {
  public:
    TuneReport(detail::Passkey, std::vector<TuneRow> rows, std::size_t chosen, TuneGoal goal)
        : rows_(std::move(rows)), chosen_(chosen), goal_(goal) {}

    [[nodiscard]] const std::vector<TuneRow>& rows() const noexcept { return rows_; }
    /// Returns the row of the Exec's plan.
    [[nodiscard]] std::size_t chosen_index() const noexcept { return chosen_; }
    [[nodiscard]] const TuneRow& chosen() const noexcept { return rows_[chosen_]; }
    [[nodiscard]] TuneGoal goal() const noexcept { return goal_; }

    /// Returns a table, one line per row.
    [[nodiscard]] std::string to_string() const;

  private:
    std::vector<TuneRow> rows_;
    std::size_t chosen_;
    TuneGoal goal_;
};

[[nodiscard]] inline std::string to_string(const TuneReport& report) {
    return report.to_string();
}

} // namespace cudag
