// SegmentedGraph: graphs in a row, with functions between them that run eagerly in each launch.
#pragma once

#include <cudag/capture.hpp>
#include <cudag/config.hpp>
#include <cudag/exec.hpp>
#include <cudag/footprint.hpp>
#include <cudag/graph.hpp>
#include <cudag/released_memory.hpp>
#include <cudag/segment_report.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag {

namespace detail {

class SegmentedState;
struct CacheContent;

} // namespace detail

/// The options of a SegmentedGraph.
struct SegmentOptions {
    InstantiateOptions instantiate = {}; ///< for the Exec of each segment
    /// Lets segments of equal structure, such as the layers of a model, share one Exec (see ExecCache). This saves
    /// device memory and time for instantiation, but each launch updates the nodes that differ.
    bool share_execs = false;
};

/// A captured program with breaks: its segments are launched as graphs, and the functions between them run eagerly.
///
///     cudag::SegmentedGraph program = cudag::capture_segments(stream, [&](cudag::StreamCapture& c) {
///         c.step("first half", [&](cudaStream_t s) { library_call(s, x.data(), n); });
///         c.eager("look", [](cudaStream_t s) { cudag::check(cudaStreamSynchronize(s)); });
///         c.step("second half", [&](cudaStream_t s) { library_call(s, x.data(), n); });
///     });
///     program.launch(stream); // a graph, the function, a graph
///
/// n breaks cost at most n + 1 graph launches: a part without nodes costs none.
/// Ownership: keeps its graphs, the functions of its breaks, and all owners of the capture (`retain`, owners given to
/// cudag's calls) until all parts of the last launch have finished. Other memory is borrowed as in StreamCapture, also
/// by the functions: a reference to a local variable must outlive the last launch.
/// Graph memory may be allocated in one segment and freed in a later one. If a function in between throws, it is still
/// allocated at the next launch: use `auto_free_on_launch`.
/// Move-only; a moved-from SegmentedGraph throws GraphError. Threads: one at a time, except for const calls.
class CUDAG_EXPORT SegmentedGraph {
  public:
    SegmentedGraph(SegmentedGraph&&) noexcept;
    SegmentedGraph& operator=(SegmentedGraph&&) noexcept;
    SegmentedGraph(const SegmentedGraph&) = delete;            // cudag: a SegmentedGraph has one owner: std::move it
    SegmentedGraph& operator=(const SegmentedGraph&) = delete; // cudag: a SegmentedGraph has one owner: std::move it
    ~SegmentedGraph();

    /// Runs the program once in `stream`: launches the segments, and calls the functions with `stream` in between, on
    /// this thread. Asynchronous, except for waits in the functions. A function may use CUDA freely, also
    /// synchronise, allocate, and launch other graphs; work in other streams is its own business.
    /// Exceptions of a function pass through: the work before it is then enqueued, the work after it is not, and the
    /// next launch begins again at the first part. Throws CaptureError if there are breaks and `stream` is being
    /// captured, or if this thread is capturing another stream (see StreamCapture); Error if CUDA refuses a launch.
    void launch(StreamRef stream);

    /// Returns the number of segments, without those that have no nodes.
    [[nodiscard]] std::size_t segment_count() const;
    [[nodiscard]] std::size_t break_count() const;
    /// Returns the graph of segment `index`. Throws GraphError if there is none. Updates of the graph affect launches
    /// only with `share_execs`; otherwise update `exec(index)`.
    [[nodiscard]] const Graph& graph(std::size_t index) const;
    /// Returns the Exec of segment `index`, for updates and bindings. Throws GraphError if there is none, or if Execs
    /// are shared.
    [[nodiscard]] Exec& exec(std::size_t index);

    /// Returns the number of complete launches.
    [[nodiscard]] std::uint64_t replays() const;
    /// Returns the parts, the counts, and the memory across breaks. Reads the graphs: not for each launch.
    [[nodiscard]] SegmentedReport report() const;
    /// Returns the memory of all segments, before the first launch or after it; what they share counts once. With
    /// `share_execs`, `executable` is measured: 0 before the first launch. Reads the graphs.
    [[nodiscard]] Footprint memory() const;

    /// Gives the memory of the releasable pools kept by the segments back to the device, and unused graph memory, until
    /// `restore_memory`: see ExecCache::release_memory.
    ReleasedMemory release_memory(ReleaseOptions options = {});
    std::size_t restore_memory();

  private:
    friend class StreamCapture;
    friend class detail::CaptureAttempt;
    explicit SegmentedGraph(std::shared_ptr<detail::SegmentedState> state) noexcept;
    [[nodiscard]] const std::shared_ptr<detail::SegmentedState>& state() const;
    [[nodiscard]] detail::CacheContent content() const;

    std::shared_ptr<detail::SegmentedState> state_;
};

/// Captures the work enqueued by `function(StreamCapture&)` into `stream` as a SegmentedGraph, with a break for each
/// `StreamCapture::eager`. Nothing runs until it is launched. Exceptions of `function` pass through, and leave the
/// stream usable. Throws CaptureError as StreamCapture does.
template <class Callable>
requires std::invocable<Callable&, StreamCapture&>
[[nodiscard]] SegmentedGraph
capture_segments( // cudag: capture_segments(stream, function) calls function(StreamCapture&)
    StreamRef stream, Callable&& function, CaptureOptions options = {}, SegmentOptions segments = {},
    SourceLocation location = SourceLocation::current()) {
    static_assert(std::is_void_v<std::invoke_result_t<Callable&, StreamCapture&>>,
                  "cudag: capture_segments() would drop what the function returns: let it return nothing");
    StreamCapture capture(stream, options, location);
    std::invoke(function, capture);
    return std::move(capture).finish_segments(segments);
}

} // namespace cudag
