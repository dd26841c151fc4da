// TuneReport: what `tune` has measured, and what it chose.
#pragma once

#include <cudag/config.hpp>
#include <cudag/plan.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// What `tune` makes small.
enum class TuneGoal : char {
    interval,    ///< between launches that follow each other at once: the longer one of launch call and GPU time
    gpu_time,    ///< of a single launch, from before its call to its end
    launch_call, ///< how long the calling thread is kept
};

/// "interval", "GPU time", "launch call".
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(TuneGoal goal) noexcept;

/// Microseconds.
struct TuneTime {
    double median;
    double spread; ///< half of the samples are no further than this from the median
    friend bool operator==(const TuneTime&, const TuneTime&) = default;
};

/// One candidate of `tune`.
struct TuneRow {
    std::string name; ///< "default", "as written", "reduce + joins", "default, 4 lanes"
    Plan plan;
    std::size_t nodes; ///< that CUDA gets, with those inside others and empty kernels
    std::size_t edges; ///< the same
    TuneTime launch_call;
    TuneTime gpu_time;
    TuneTime interval;
    /// The row of a candidate before it that gives CUDA the same edges: measured once, the times are those.
    std::optional<std::size_t> same_as = std::nullopt;

    [[nodiscard]] const TuneTime& of(TuneGoal goal) const noexcept {
        return goal == TuneGoal::interval ? interval : goal == TuneGoal::gpu_time ? gpu_time : launch_call;
    }
};

/// What `tune` has measured, in the order of the candidates.
class CUDAG_EXPORT TuneReport {
  public:
    /// For `tune` to make.
    TuneReport(std::vector<TuneRow> rows, std::size_t chosen, TuneGoal goal)
        : rows_(std::move(rows)), chosen_(chosen), goal_(goal) {}

    [[nodiscard]] const std::vector<TuneRow>& rows() const noexcept { return rows_; }
    /// The row of the plan that the Exec has.
    [[nodiscard]] std::size_t chosen_index() const noexcept { return chosen_; }
    [[nodiscard]] const TuneRow& chosen() const noexcept { return rows_[chosen_]; }
    [[nodiscard]] TuneGoal goal() const noexcept { return goal_; }

    /// A table, one line for each row.
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
