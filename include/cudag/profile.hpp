// profile: measures when each node of an Exec runs.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/exec.hpp>
#include <cudag/measured_time.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudag {

/// The source of the times of a Profile.
enum class ProfileSource : char {
    cupti,       ///< CUPTI's activity records, on a GPU
    events,      ///< events around the nodes of a copy of the graph: nodes outside of others only
    cpu_runtime, ///< the clock of the CPU runtime: its times say nothing about a GPU
};

/// Returns "CUPTI", "events" or "the CPU runtime's clock".
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(ProfileSource source) noexcept;

/// Options of `profile`.
struct ProfileOptions {
    unsigned launches = 20; ///< the measured launches, all in a row, after one that is not measured
    /// The source of the times. Without a value: the best one, see `profile`.
    std::optional<ProfileSource> source = std::nullopt;
};

/// The times of a node. The texts stay valid after the graph is destroyed.
struct NodeProfile {
    std::string label{};       ///< "" without one
    std::string description{}; ///< the node as in errors: "kernel \"scale\" inside child \"layer\" at a.cpp:12"
    NodeKind kind = NodeKind::empty;
    std::string kernel{};                     ///< name of its kernel, "scale<float>"; "" for other kinds
    SourceLocation location{};                ///< of the node's creation
    std::optional<int> device = std::nullopt; ///< see `Node::device`
    /// The child or conditional node around this one, as an index into `Profile::nodes()`; none outside of both.
    std::optional<std::size_t> outer = std::nullopt;
    std::size_t body = 0; ///< the number of its graph inside that node
    /// Indices of its predecessors by `Graph::edges()`.
    std::vector<std::size_t> dependencies = {};

    /// Runs in a launch, on average: several in the body of a loop; 0 if it was disabled, if no launch decided for its
    /// body, or if the source has no times for its kind. The times are 0 then. A child or conditional node runs from
    /// the begin of the first node inside to the end of the last.
    double runs = 0;
    MeasuredTime start{};     ///< begin of the first run, since the begin of the launch's first node
    MeasuredTime duration{};  ///< of all runs of a launch together
    std::size_t lane = 0;     ///< the row of its first run in `Profile::timeline()`
    bool is_critical = false; ///< on the critical path; also for a node around one
};

/// One run of a node in a launch.
struct NodeRun {
    std::size_t node; ///< index into `Profile::nodes()`
    double begin;     ///< in microseconds since the begin of the launch's first node
    double end;
    std::size_t lane; ///< runs of one lane do not overlap
    friend bool operator==(const NodeRun&, const NodeRun&) = default;
};

/// The times of whole launches. `launch_gap` is from the end of a launch to the begin of the next one, queued
/// behind it.
struct LaunchTimes {
    std::size_t count = 0;
    MeasuredTime gpu_time{};  ///< from the begin of the first node to the end of the last
    MeasuredTime idle_time{}; ///< the part of it in which no node runs
    double concurrency = 0;   ///< mean number of running nodes, while any runs
    std::optional<MeasuredTime> launch_gap = std::nullopt;
};

/// The times of an Exec by node. A value: it needs neither graph nor Exec.
///
///     cudag::Profile profile = cudag::profile(exec, stream, {.launches = 50});
///     std::puts(profile.to_string().c_str()); // a table, the longest node first
///     std::ofstream("trace.json") << profile.chrome_trace(); // for Perfetto or chrome://tracing
///     cudag::Exec planned = graph.instantiate({.plan = {.durations = profile.durations()}});
///
/// Threads: const calls may run concurrently.
class CUDAG_EXPORT Profile {
  public:
    Profile(detail::Passkey, ProfileSource source, std::string remark, LaunchTimes launches,
            std::vector<NodeProfile> nodes, std::vector<NodeRun> timeline, std::vector<std::size_t> critical);

    [[nodiscard]] ProfileSource source() const noexcept { return source_; }
    /// Returns the reason if a better source could not be used, otherwise "".
    [[nodiscard]] const std::string& remark() const noexcept { return remark_; }
    [[nodiscard]] std::size_t launches() const noexcept { return launches_.count; }
    /// Returns all nodes in the order of `Graph::nodes()`, each followed by the nodes inside it.
    [[nodiscard]] const std::vector<NodeProfile>& nodes() const noexcept { return nodes_; }
    /// Returns the first node with this label; null if there is none.
    [[nodiscard]] const NodeProfile* find(std::string_view label) const noexcept;

    /// Returns the time of a launch, from the begin of its first node to the end of its last.
    [[nodiscard]] MeasuredTime gpu_time() const noexcept { return launches_.gpu_time; }
    /// Returns the part of the GPU time in which no node runs: gaps between nodes, and nodes without times.
    [[nodiscard]] MeasuredTime idle_time() const noexcept { return launches_.idle_time; }
    /// Returns the mean number of running nodes, while any runs.
    [[nodiscard]] double concurrency() const noexcept { return launches_.concurrency; }
    /// Returns the time from the end of a launch to the begin of the next one, queued behind it; nothing for a single
    /// launch.
    [[nodiscard]] std::optional<MeasuredTime> launch_gap() const noexcept { return launches_.launch_gap; }

    /// Returns the runs of a typical launch, one of median GPU time, in the order of their begin. Nodes with others
    /// inside have no run of their own.
    [[nodiscard]] const std::vector<NodeRun>& timeline() const noexcept { return timeline_; }
    /// Returns the critical path as indices into `timeline()`: the run that ends last, before it the one that it waited
    /// for longest, and so on back to a first node. Only a shorter path makes the launch shorter.
    [[nodiscard]] const std::vector<std::size_t>& critical_path() const noexcept { return critical_; }
    /// Returns the time from the begin of the critical path to its end, in microseconds.
    [[nodiscard]] double critical_time() const noexcept;
    /// Returns the part of it in which nodes of the path run; the rest are gaps between them.
    [[nodiscard]] double critical_busy_time() const noexcept;

    /// Returns the durations of the nodes for `Plan::durations`: in microseconds, one for each of `Graph::nodes()`, 0
    /// for a node without times. For `tune`, add `Plan{.durations = profile.durations()}` to its candidates.
    [[nodiscard]] std::vector<double> durations() const;

    /// Returns the times of the launches, the critical path, and a table of the nodes, the longest first; * marks nodes
    /// of the critical path. Nodes without times are counted. For nodes on several devices, also the time in which each
    /// device is busy in the typical launch.
    [[nodiscard]] std::string to_string() const;
    /// Returns the typical launch as JSON in Chrome's Trace Event Format, which Perfetto and chrome://tracing open: a
    /// slice for each run, with its label and lane; a row for nodes around others; edges as flows. An edge through a
    /// node without times begins at the predecessor that ended last. Each of several devices is a process.
    [[nodiscard]] std::string chrome_trace() const;
    /// Returns the graph as Graphviz text, as written, with the nodes coloured by duration: the longest is red. Thick
    /// lines show the critical path.
    [[nodiscard]] std::string dot() const;

  private:
    ProfileSource source_;
    std::string remark_;
    LaunchTimes launches_;
    std::vector<NodeProfile> nodes_;
    std::vector<NodeRun> timeline_;
    std::vector<std::size_t> critical_;
};

[[nodiscard]] inline std::string to_string(const Profile& profile) {
    return profile.to_string();
}

/// Launches `exec` repeatedly in `stream`, and reports when each of its nodes ran, nodes of children and bodies
/// included. The sources of the times, the best first:
///   - The clock of the CPU runtime, if the program has it. It has times for all nodes except joins.
///   - CUPTI on a GPU, loaded by the first call. It has times for kernels, copies and fills, and none for host, event
///     and memory nodes and joins. Measured launches take longer than others: an H100 took 101 us instead of 87 us for
///     eight kernels of 20 us in two chains. Later launch calls of the process stay slower than before, too.
///   - Events, if CUPTI is not found or another profiler uses it; `Profile::remark` has the reason. They measure the
///     nodes of a copy of the graph, kernels, copies, fills, host nodes and children, from the outside: a microsecond
///     or two too long. The copy's launches are not in a row, and do not count as launches of `exec`. They measure no
///     graphs with conditional or memory nodes, and no Exec with updates or disabled nodes.
///
/// The graph really runs, 1 + launches times: its kernels write, its host nodes are called. Nothing else should keep
/// the device busy. Blocks: waits for `stream`, before and after. `replays()` counts the launches.
///
/// Throws, and leaves `exec` unchanged (but it may have run):
///   - GraphError for a moved-from Exec, or if `launches` is 0
///   - CaptureError if `stream` is being captured
///   - Error if no source can be used, or not the given one; or if CUDA fails
///   - HostError if host nodes throw
///
/// Threads: as `Exec::launch`; no other thread may use `stream`, and no other call of `profile` may run.
[[nodiscard]] CUDAG_EXPORT Profile profile(Exec& exec, StreamRef stream, ProfileOptions options = {});

} // namespace cudag
