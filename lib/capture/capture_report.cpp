// Text of a CaptureCache's report.
#include <cudag/capture_report.hpp>
#include <cudag/format.hpp>

#include "segments/crossing_buffers.hpp"

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
    case KeyState::crowded_out:
        return "crowded out";
    }
    return "unknown";
}

std::string to_string(const CaptureCacheStats& stats) {
    std::string text = fmt::format("{}, {}; {}, {}, {}, {}, {}", count(stats.keys, "key"), count(stats.graphs, "graph"),
                                   count(stats.eager_runs, "eager run"), count(stats.captures, "capture"),
                                   count(stats.failed_captures, "failed capture"), count(stats.replays, "replay"),
                                   count(stats.evictions, "eviction"));
    if (stats.crowded_runs != 0 || stats.returns != 0)
        text += fmt::format("; {} for lack of room, {} after eviction", count(stats.crowded_runs, "eager run"),
                            count(stats.returns, "return"));
    if (stats.crowded_keys != 0)
        text += fmt::format(": capacity {} would keep the {} without room, in {:.1f} MiB", stats.needed_capacity(),
                            count(stats.crowded_keys, "key"),
                            static_cast<double>(stats.bytes + stats.crowded_bytes) / (1 << 20));
    return text;
}

std::string to_string(const KeyReport& report) {
    std::string text = fmt::format("{}, first run at {}: {}; {}, {}", report.key, report.location, report.state,
                                   count(report.eager_runs, "eager run"), count(report.replays, "replay"));
    if (report.crowded_runs != 0) text += fmt::format(", {} for lack of room", count(report.crowded_runs, "eager run"));
    if (report.evictions != 0) text += ", " + count(report.evictions, "eviction");
    if (report.failed_captures != 0) text += ", " + count(report.failed_captures, "failed capture");
    if (!report.step.empty()) text += fmt::format(" in step \"{}\"", report.step);
    if (!report.reason.empty()) text += ": " + report.reason;
    if (report.state == KeyState::eager && !report.step.empty())
        text += "\n  the other steps would be replayed with this one in Steps::eager, or with learn_breaks";
    if (!report.breaks.empty())
        text += fmt::format("\n  {}, {}", count(report.segments, "segment"), count(report.breaks.size(), "break"));
    for (const KeyBreak& each : report.breaks)
        text += fmt::format("\n  \"{}\" at {}{}{}", each.label, each.location,
                            each.reason.empty() ? "" : ", learned: ", each.reason);
    for (const CrossingBuffer& buffer : report.crossing)
        text += "\n  " + detail::text_of(buffer);
    return text;
}

std::string to_string(const CaptureCacheReport& report) {
    std::string text = to_string(report.stats);
    for (const KeyReport& key : report.keys)
        text += "\n" + to_string(key);
    return text;
}

} // namespace cudag
