// fmt formatters of cudag's types; separate from cudag.hpp because nvcc does not compile fmt 9 in C++20.
#pragma once

#include <cudag/buffer_param.hpp>
#include <cudag/capture_mode.hpp>
#include <cudag/capture_report.hpp>
#include <cudag/diff.hpp>
#include <cudag/edge.hpp>
#include <cudag/exec.hpp>
#include <cudag/exec_cache.hpp>
#include <cudag/function.hpp>
#include <cudag/graph.hpp>
#include <cudag/host_memory.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/node.hpp>
#include <cudag/plan.hpp>
#include <cudag/race.hpp>
#include <cudag/relax.hpp>
#include <cudag/segment_report.hpp>
#include <cudag/side.hpp>
#include <cudag/source_location.hpp>
#include <cudag/tune_report.hpp>
#include <cudag/tuned_plan.hpp>
#include <cudag/update_options.hpp>
#include <cudag/update_report.hpp>

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace cudag::detail {

/// Formats a value as the string returned by `to_string`.
template <class Type>
struct TextFormatter : fmt::formatter<fmt::string_view> {
    auto format(const Type& value, fmt::format_context& context) const {
        const auto text = to_string(value);
        const std::string_view view = text;
        return fmt::formatter<fmt::string_view>::format({view.data(), view.size()}, context);
    }
};

} // namespace cudag::detail

/// Formats a SegmentedReport: "2 segments of 2, 1 nodes, 2 execs, 1 break, 2 launches", and more lines.
template <>
struct fmt::formatter<cudag::SegmentedReport> : cudag::detail::TextFormatter<cudag::SegmentedReport> {};

/// Formats a KeyState: "warming up".
template <>
struct fmt::formatter<cudag::KeyState> : cudag::detail::TextFormatter<cudag::KeyState> {};

/// Formats CaptureCacheStats: "3 keys, 2 graphs; 6 eager runs, 2 captures, 1 failed capture, 40 replays, 0 evictions".
template <>
struct fmt::formatter<cudag::CaptureCacheStats> : cudag::detail::TextFormatter<cudag::CaptureCacheStats> {};

/// Formats a KeyReport: "\"decode\", first run at a.cpp:12: captured; 2 eager runs, 40 replays".
template <>
struct fmt::formatter<cudag::KeyReport> : cudag::detail::TextFormatter<cudag::KeyReport> {};

/// Formats a CaptureCacheReport: the counts, and a line for each key.
template <>
struct fmt::formatter<cudag::CaptureCacheReport> : cudag::detail::TextFormatter<cudag::CaptureCacheReport> {};

/// Formats a NodeKind: "memcpy".
template <>
struct fmt::formatter<cudag::NodeKind> : cudag::detail::TextFormatter<cudag::NodeKind> {};

/// Formats an EdgeKind: "programmatic".
template <>
struct fmt::formatter<cudag::EdgeKind> : cudag::detail::TextFormatter<cudag::EdgeKind> {};

/// Formats a DifferenceKind: "parameter".
template <>
struct fmt::formatter<cudag::DifferenceKind> : cudag::detail::TextFormatter<cudag::DifferenceKind> {};

/// Formats an UpdateVerdict: "topology_changed".
template <>
struct fmt::formatter<cudag::UpdateVerdict> : cudag::detail::TextFormatter<cudag::UpdateVerdict> {};

/// Formats a Match: "structure".
template <>
struct fmt::formatter<cudag::Match> : cudag::detail::TextFormatter<cudag::Match> {};

/// Formats a CaptureMode: "thread-local".
template <>
struct fmt::formatter<cudag::CaptureMode> : cudag::detail::TextFormatter<cudag::CaptureMode> {};

/// Formats a node handle of any type: "kernel \"scale\" at a.cpp:12".
template <std::derived_from<cudag::Node> Handle>
struct fmt::formatter<Handle> : cudag::detail::TextFormatter<cudag::Node> {};

/// Formats a Graph: "graph of 3 nodes (2 kernel, 1 memcpy) and 2 edges, made at a.cpp:12".
template <>
struct fmt::formatter<cudag::Graph> : cudag::detail::TextFormatter<cudag::Graph> {};

/// Formats an Exec: "exec of 3 nodes (2 kernel, 1 memcpy), launched 7 times, of the graph made at a.cpp:12".
template <>
struct fmt::formatter<cudag::Exec> : cudag::detail::TextFormatter<cudag::Exec> {};

/// Formats a Difference: "kernel \"scale\" at a.cpp:12: argument 1: 2 -> 3".
template <>
struct fmt::formatter<cudag::Difference> : cudag::detail::TextFormatter<cudag::Difference> {};

/// Formats an UpdateReport: "updated", or the reason for a refusal.
template <>
struct fmt::formatter<cudag::UpdateReport> : cudag::detail::TextFormatter<cudag::UpdateReport> {};

/// Formats a JoinForm: "kernel".
template <>
struct fmt::formatter<cudag::JoinForm> : cudag::detail::TextFormatter<cudag::JoinForm> {};

/// Formats a PlannedJoin: "empty \"meet\" at a.cpp:12: 3 nodes before 3: edges, 9 of them are quicker than a kernel
/// between".
template <>
struct fmt::formatter<cudag::PlannedJoin> : cudag::detail::TextFormatter<cudag::PlannedJoin> {};

/// Formats a PlanReport: "144 edges became 24, with 1 empty kernel", and further lines.
template <>
struct fmt::formatter<cudag::PlanReport> : cudag::detail::TextFormatter<cudag::PlanReport> {};

/// Formats a StayingNode: "kernel \"gemm\" at a.cpp:12: its accesses to memory are unknown; ...".
template <>
struct fmt::formatter<cudag::StayingNode> : cudag::detail::TextFormatter<cudag::StayingNode> {};

/// Formats a RelaxReport: "131 edges became 124; the longest path has 33 nodes, before it had 132", and a line for each
/// remaining node.
template <>
struct fmt::formatter<cudag::RelaxReport> : cudag::detail::TextFormatter<cudag::RelaxReport> {};

/// Formats ExecCacheStats: "2 execs, 4.0 MiB; 10 hits, 3 updates in 0.12 ms, 4 instantiations in 1.50 ms, 2 evictions".
template <>
struct fmt::formatter<cudag::ExecCacheStats> : cudag::detail::TextFormatter<cudag::ExecCacheStats> {};

/// Formats a Race: "nothing orders kernel \"a\" at a.cpp:12 (argument 1) and ...", with the remedy.
template <>
struct fmt::formatter<cudag::Race> : cudag::detail::TextFormatter<cudag::Race> {};

/// Formats an UntrackedArgument: "kernel \"scale\" at a.cpp:12: argument 2 may be an address, ...", with the remedy.
template <>
struct fmt::formatter<cudag::UntrackedArgument> : cudag::detail::TextFormatter<cudag::UntrackedArgument> {};

/// Formats a HostMemory: "memcpy \"upload\" at a.cpp:12: the source, 40 bytes of pageable host memory at ...".
template <>
struct fmt::formatter<cudag::HostMemory> : cudag::detail::TextFormatter<cudag::HostMemory> {};

/// Formats a BufferUse: "kernel \"scale\" at a.cpp:12: argument 1 at offset 64".
template <>
struct fmt::formatter<cudag::BufferUse> : cudag::detail::TextFormatter<cudag::BufferUse> {};

/// Formats a Function: "scale of 3 parameters (8, 8 and 4 bytes)".
template <>
struct fmt::formatter<cudag::Function> : cudag::detail::TextFormatter<cudag::Function> {};

/// Formats a CaptureStatus: "active".
template <>
struct fmt::formatter<cudag::CaptureStatus> : cudag::detail::TextFormatter<cudag::CaptureStatus> {};

/// Formats a LaunchConfig: "grid 8, block 16 x 16, shared_bytes 1024".
template <>
struct fmt::formatter<cudag::LaunchConfig> : cudag::detail::TextFormatter<cudag::LaunchConfig> {};

/// Formats a TuneGoal: "GPU time".
template <>
struct fmt::formatter<cudag::TuneGoal> : cudag::detail::TextFormatter<cudag::TuneGoal> {};

/// Formats a TuneReport: a table of the measurements.
template <>
struct fmt::formatter<cudag::TuneReport> : cudag::detail::TextFormatter<cudag::TuneReport> {};

/// Formats a TunedPlan: the text for `TunedPlan::parse`.
template <>
struct fmt::formatter<cudag::TunedPlan> : cudag::detail::TextFormatter<cudag::TunedPlan> {};

/// Formats a Side: "device".
template <>
struct fmt::formatter<cudag::Side> : cudag::detail::TextFormatter<cudag::Side> {};

/// Formats a SourceLocation: "pipeline.cpp:42".
template <>
struct fmt::formatter<cudag::SourceLocation> : fmt::formatter<fmt::string_view> {
    auto format(const cudag::SourceLocation& location, fmt::format_context& context) const {
        const std::string text = fmt::format("{}:{}", location.file, location.line);
        return fmt::formatter<fmt::string_view>::format(text, context);
    }
};
