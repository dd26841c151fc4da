// tune: times a graph by several plans on the device, and keeps the best.
#pragma once

#include <cudag/config.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/plan.hpp>
#include <cudag/stream.hpp>
#include <cudag/tune_report.hpp>

#include <optional>
#include <vector>

namespace cudag {

struct TuneOptions {
    /// The plans to try; the first stays unless another one is better. None: the default plan, as it is written, only
    /// reduced, without `ends`, and the default on 1, 2, 4, ... lanes, up to as many nodes as can run at once.
    std::optional<std::vector<Plan>> candidates = std::nullopt;
    TuneGoal goal = TuneGoal::interval;
    unsigned repetitions = 20; ///< in each of which a candidate is launched nine times: alone, and eight in a row
    InstantiateOptions instantiate = {}; ///< how the Execs are made; its plan is not used
};

struct Tuned {
    Exec exec; ///< as a rule it has been launched, and `replays()` counts that
    TuneReport report;
};

/// Instantiates `graph` by several plans, launches each many times, and keeps the quickest:
///
///     cudag::Tuned tuned = cudag::tune(graph, stream);
///     tuned.exec.launch(stream);
///
/// The graph runs, 1 + 9 * repetitions times for each plan: so often its kernels write, its host nodes are called, its
/// events are recorded. What it computes must bear that. What it reads must be as it is in use if times depend on it,
/// and nothing else should keep the device busy. Plans with lanes bring an order that was not written: where nodes wait
/// for each other by other means than edges, such as semaphores, give candidates without lanes.
///
/// The first candidate is chosen unless others are better than it by more than both spreads together, and by 2 %; of
/// these the quickest, or the first that is not worse than that by as much. Candidates are launched in turns.
/// Graphs of which CUDA allows one Exec at a time (with conditionals, memory nodes or device-updatable nodes) have
/// their candidates timed one after the other, and must have no Exec. With allocations that they do not free, they need
/// `.instantiate = {.auto_free_on_launch = true}`.
///
/// Blocks: waits for `stream` first, and after each repetition; reads a captured graph. Later calls see CUDA's edges as
/// the chosen plan has them.
/// Throws GraphError for a moved-from graph, one inside another, and options that leave nothing to measure,
/// InstantiateError as `Graph::instantiate` does, CaptureError if `stream` is being captured, HostError if host nodes
/// throw, Error if CUDA fails. Then `graph` is as it was, but it may have run.
/// Threads: as `Graph::instantiate`; `stream` is for this call alone.
[[nodiscard]] CUDAG_EXPORT Tuned tune(const Graph& graph, StreamRef stream, const TuneOptions& options = {});

} // namespace cudag
