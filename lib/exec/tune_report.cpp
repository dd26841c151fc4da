// The table of tune's measurements.
#include <cudag/tune_report.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cudag {

std::string_view to_string(TuneGoal goal) noexcept {
    switch (goal) {
    case TuneGoal::interval:
        return "interval";
    case TuneGoal::gpu_time:
        return "GPU time";
    case TuneGoal::launch_call:
        return "launch call";
    }
    return "?";
}

std::string TuneReport::to_string() const {
    std::size_t width = 4;
    for (const TuneRow& row : rows_)
        width = std::max(width, row.name.size());
    const auto time = [](const TuneTime& of) { return fmt::format("{:.1f} +- {:.1f}", of.median, of.spread); };
    std::string text =
        fmt::format("{:<{}}  {:>7}  {:>7}  {:>17}  {:>17}  {:>17}  (microseconds; least {})", "plan", width, "nodes",
                    "edges", "launch call", "GPU time", "interval", cudag::to_string(goal_));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const TuneRow& row = rows_[i];
        text += fmt::format("\n{:<{}}  {:>7}  {:>7}", row.name, width, row.nodes, row.edges);
        if (row.same_as)
            text += fmt::format("  the same edges as \"{}\"", rows_[*row.same_as].name);
        else
            text +=
                fmt::format("  {:>17}  {:>17}  {:>17}", time(row.launch_call), time(row.gpu_time), time(row.interval));
        if (i == chosen_) text += "  chosen";
    }
    return text;
}

} // namespace cudag
