// Text of a CaptureCache's report.
#include <cudag/capture_report.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

namespace cudag {

namespace {

std::string count(std::uint64_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

} // namespace

const char* to_string(KeyState state) noexcept {
    switch (state) {
    case KeyState::warming_up:
        return "warming up";
    case KeyState::captured:
        return "captured";
    case KeyState::eager:
        return "eager";
    }
    return "unknown";
}

std::string to_string(const CaptureCacheStats& stats) {
    return fmt::format("{}, {}; {}, {}, {}, {}, {}", count(stats.keys, "key"), count(stats.graphs, "graph"),
                       count(stats.eager_runs, "eager run"), count(stats.captures, "capture"),
                       count(stats.failed_captures, "failed capture"), count(stats.replays, "replay"),
                       count(stats.evictions, "eviction"));
}

std::string to_string(const KeyReport& report) {
    std::string text = fmt::format("{}, first run at {}: {}; {}, {}", report.key, report.location, report.state,
                                   count(report.eager_runs, "eager run"), count(report.replays, "replay"));
    if (report.failed_captures != 0) text += ", " + count(report.failed_captures, "failed capture");
    if (!report.step.empty()) text += fmt::format(" in step \"{}\"", report.step);
    if (!report.reason.empty()) text += ": " + report.reason;
    return text;
}

std::string to_string(const CaptureCacheReport& report) {
    std::string text = to_string(report.stats);
    for (const KeyReport& key : report.keys)
        text += "\n" + to_string(key);
    return text;
}

} // namespace cudag
