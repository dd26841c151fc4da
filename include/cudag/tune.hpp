// tune: times a graph with several plans on the device, and keeps the best plan.
#pragma once

#include <cudag/config.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/plan.hpp>
#include <cudag/stream.hpp>
#include <cudag/tune_report.hpp>
#include <cudag/tuned_plan.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace cudag {

/// The state of a running `tune`.
struct TuneProgress {
    std::chrono::duration<double> elapsed; ///< since the stream became idle, in seconds
    std::size_t launches;                  ///< so far, of all candidates
    std::size_t candidates;                ///< with different edges, instantiated so far
    std::size_t contenders;                ///< the candidates among them that can still be chosen
    std::string_view best;                 ///< name of the candidate that would be chosen now; valid during the call
    TuneTime time;                         ///< its time, the one to minimise
};

/// Options of `tune`.
struct TuneOptions {
    /// The plans to compare; the first wins unless another one is clearly better. By default: the default plan, as
    /// written, only `reduce`, the default without `ends`, and the default with 1, 2, 4, ... lanes, up to the number of
    /// nodes that can run concurrently.
    std::optional<std::vector<Plan>> candidates = std::nullopt;
    TuneGoal goal = TuneGoal::interval;
    /// The most rounds; in each, a candidate is launched nine times: once alone, and eight times in a row. After four
    /// rounds, candidates that can no longer be chosen are not launched again; if one is left, the rounds end.
    unsigned repetitions = 20;
    /// Ends the measurements after this time, with what is known by then. The call takes longer by at most one
    /// instantiation and ten launches. Without a value: no limit.
    std::optional<std::chrono::nanoseconds> time_limit = std::nullopt;
    /// Called after each nine launches of a candidate; ends the measurements if it returns false. It must not use the
    /// graph or the stream. What it throws, `tune` throws.
    std::function<bool(const TuneProgress&)> on_progress = {};
    InstantiateOptions instantiate = {}; ///< options of the Execs, except its plan
};

/// The result of `tune`.
struct Tuned {
    Exec exec; ///< usually launched already; `replays()` counts these launches
    TuneReport report;
    TunedPlan plan; ///< the chosen plan; its text spares later processes the measurements
};

/// Instantiates `graph` with several plans, launches each many times, and keeps the fastest:
///
///     cudag::Tuned tuned = cudag::tune(graph, stream);
///     tuned.exec.launch(stream);
///     std::puts(to_string(tuned.report).c_str());
///
/// A limit and a way to stop:
///
///     std::atomic<bool> stop = false;
///     cudag::Tuned tuned = cudag::tune(graph, stream, {
///         .time_limit = std::chrono::seconds(2),
///         .on_progress = [&](const cudag::TuneProgress& now) {
///             std::printf("%zu launches, %zu plans left\n", now.launches, now.contenders);
///             return !stop;
///         }});
///
/// If a limit or the callback ends the measurements, the report omits candidates that were not measured. The first
/// candidate always is.
///
/// The graph really runs, up to 1 + 9 * repetitions times for each distinct set of edges: its kernels write, its host
/// nodes are called, its events are recorded each time. Requirements:
///   - Its results must permit these repeated runs.
///   - If its times depend on its inputs, these must be as in actual use.
///   - Nothing else should keep the device busy.
///   - If nodes wait for each other without edges, such as by semaphores, give candidates without lanes: lanes add an
///     order that was not written.
///   - A graph with graph memory nodes or device-updatable kernels must have no live Exec. Its candidates are timed one
///     after the other, as are those of a graph with conditional nodes; other graphs' candidates take turns.
///   - A graph that does not free its allocations needs `.instantiate = {.auto_free_on_launch = true}`.
///
/// The first candidate wins unless others are clearly better: by more than both spreads together, and by more than 2 %.
/// Of these, the fastest wins, or the first one not clearly worse than it.
///
/// Blocks: waits for `stream` first, and after each repetition. A captured graph is read. Afterwards CUDA's graph has
/// the edges of the chosen plan.
///
/// Throws, and leaves `graph` unchanged (but it may have run):
///   - GraphError for a moved-from graph, an inner graph, or options that leave nothing to measure
///   - InstantiateError as `Graph::instantiate` does
///   - CaptureError if `stream` is being captured
///   - HostError if host nodes throw
///   - the exceptions of `on_progress`
///   - Error if CUDA fails
///
/// Threads: as `Graph::instantiate`; no other thread may use `stream` during the call.
[[nodiscard]] CUDAG_EXPORT Tuned tune(const Graph& graph, StreamRef stream, const TuneOptions& options = {});

} // namespace cudag
