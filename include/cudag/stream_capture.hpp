// StreamCapture: stream capture, the recording of a stream's work as a Graph.
#pragma once

#include <cudag/builder/conditionals.hpp>
#include <cudag/builder/kernels.hpp>
#include <cudag/capture_mode.hpp>
#include <cudag/capture_options.hpp>
#include <cudag/capture_pool.hpp>
#include <cudag/condition.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/eager_task.hpp>
#include <cudag/detail/event_operand.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/graph.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

class SegmentedGraph;
struct SegmentOptions;

namespace detail {

class CaptureAttempt;
struct CaptureCall;
class CaptureState;
struct CapturedSegments;
class NewRegion;
class StepRecorder;

template <class Callable>
concept CaptureStep = std::invocable<Callable&> || std::invocable<Callable&, cudaStream_t>;

template <CaptureStep Callable>
decltype(auto) call_step(Callable& function, cudaStream_t stream) {
    if constexpr (std::invocable<Callable&, cudaStream_t>)
        return std::invoke(function, stream);
    else
        return std::invoke(function);
}

} // namespace detail

/// Stream capture: records the work enqueued into a stream, by any code, as a Graph, instead of running it.
///
///     cudag::StreamCapture capture(stream);
///     capture.step("scale", [&](cudaStream_t s) { cudag::launch(s, config, scale, x, 2.0f, n); });
///     capture.step("library", [&](cudaStream_t s) { library_call(s, x.data(), n); });
///     cudag::Graph graph = std::move(capture).finish();
///
/// `add`, `kernel` (builder/kernels.hpp) and `if_`, `while_`, `repeat`, `switch_`, `condition` and `set`
/// (builder/conditionals.hpp) add nodes in place, after all work recorded in the stream so far.
///
/// Ownership: the object owns the capture; `finish()` hands out the graph. If it is destroyed before, by an exception
/// or otherwise, it ends the capture, drops the recorded work, and leaves the stream usable. After the end, all
/// functions except `status` and `stream` throw CaptureError.
/// Lifetimes: the stream must not be synchronised, queried or destroyed during the capture. Recorded work borrows its
/// memory, except the owners given to `retain` and to cudag's own calls in the stream.
/// Other streams: cudag's own calls (launch, memcpy_async, memset_async, Exec::launch and the like) on the capturing
/// thread throw CaptureError during the capture if their stream is not captured. Their work would run once, now, and be
/// missing in every replay. If the caller swallows the error, the end of the step or of the capture throws again.
/// ThreadCaptureMode(CaptureMode::relaxed) allows such calls, for work to run now. Other threads are not restricted.
/// Threads: use the object only on the thread of its construction, unless the mode is relaxed, and never on two threads
/// at once. The exception: several threads at once may `fork` to streams of their own, enqueue into these, `join` them,
/// and `retain`. No other use of the capture is allowed meanwhile, because CUDA's graphs are not thread-safe. Join only
/// after all threads have forked: a later fork comes after the joined work. The nodes appear in the order of the
/// threads' calls; Match::structure updates an Exec regardless of this order.
class CUDAG_EXPORT StreamCapture : public detail::KernelCalls<StreamCapture>,
                                   public detail::ConditionalCalls<StreamCapture> {
  public:
    /// Begins the capture of `stream`. Throws CaptureError if `stream` is the legacy default stream (CUDA cannot
    /// capture it), or is already captured.
    explicit StreamCapture(StreamRef stream, CaptureOptions options = {},
                           SourceLocation location = SourceLocation::current());
    /// Joins the capture that `stream` is part of, which other code has begun and ends: records checked steps and typed
    /// nodes in it.
    ///
    ///     auto joined = cudag::StreamCapture::join_existing(stream);
    ///     joined.kernel(config, scale, x, 2.0f, n);
    ///     std::move(joined).leave();
    ///
    /// All functions work as in a capture begun by cudag, except `finish`, `finish_segments` and `eager`. Labels appear
    /// in errors only. CUDA's graph keeps all owners, which makes each launch of it cost about twice as much. After an
    /// exception with nodes already added, the capture is broken for the other code, too.
    /// Call `leave` or destroy the object before the other code ends the capture; handles of nodes die then.
    /// Throws CaptureError if the stream is not being captured, if the capture is broken, or if `options` have a mode
    /// or `refuse_legacy_stream`: the code that begins a capture chooses these.
    [[nodiscard]] static StreamCapture join_existing(StreamRef stream,
                                                     CaptureOptions options = {}, // cudag: join_existing(stream)
                                                     SourceLocation location = SourceLocation::current());
    ~StreamCapture();
    StreamCapture(const StreamCapture&) = delete; // cudag: a StreamCapture stays where it is: pass it by reference
    StreamCapture& operator=(const StreamCapture&) = delete; // cudag: a StreamCapture stays where it is

    /// Ends the capture and returns its graph. Call it once, on the constructor's thread unless the mode is relaxed,
    /// after all forked streams have been joined: cudag joins none by itself. Throws CaptureError, with the cause, if
    /// - the capture was broken, or a forked stream was not joined;
    /// - a call on the constructor's thread failed during the capture, and nobody has read CUDA's last error;
    /// - CUDA refused a call because of the capture, unless `allow_refused_calls`;
    /// - the error of a cudag call in a stream outside the capture was swallowed;
    /// - nothing was recorded, unless `allow_empty`;
    /// - there are breaks: see `finish_segments`.
    /// If `add`, `kernel`, `if_` or the like have added nodes, it also throws GraphError as GraphBuilder::build does.
    /// The capture has then ended. Two more mistakes throw CaptureError, and the capture goes on: a call on another
    /// thread (unless relaxed), and a call for a capture begun by GraphBuilder::capture, which ends it itself.
    [[nodiscard]] Graph finish() &&; // cudag: finish() ends the capture: std::move(capture).finish()

    /// Ends the capture and returns its segments and breaks (<cudag/segmented_graph.hpp>). Without a break, it is one
    /// segment. Throws as `finish` does, also GraphError as Graph::instantiate does; with breaks, nothing needs to be
    /// recorded.
    [[nodiscard]] SegmentedGraph finish_segments() &&; // cudag: std::move(capture).finish_segments()
    [[nodiscard]] SegmentedGraph finish_segments(const SegmentOptions& options) &&;

    /// Leaves a joined capture, which goes on. The destructor does the same without checks.
    /// Throws CaptureError if the capture is broken, or as `finish` does for unread errors and refused calls, and
    /// GraphError as GraphBuilder::build does for added nodes; the capture is then left, and broken in case of the
    /// GraphError. Two mistakes leave it joined: a forked stream that is not joined, and a capture begun by cudag.
    void leave() &&; // cudag: std::move(capture).leave()

    /// Adds a break: the work recorded so far becomes a segment, each launch of the result calls `function(stream)` or
    /// `function()` behind it, and the capture goes on with the next segment. Now the function is not called, only
    /// kept: by copy, or moved from an rvalue. What it refers to must outlive the last launch. End the capture by
    /// `finish_segments`.
    /// All forked streams must have been joined, and no step be under way; later work that uses a side stream forks it
    /// again. Nodes of several segments have no edges between them; a Condition belongs to its segment.
    /// Throws CaptureError as `finish` does, and has then ended the capture. Three mistakes leave it as it was: a break
    /// inside a step or an `add`, in a capture begun by GraphBuilder::capture, and on another thread (unless relaxed).
    template <class Callable>
    void eager( // cudag: eager(label, function) calls function(cudaStream_t) or function() in each launch
        std::string_view label, Callable&& function, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_eager_function<Callable>())
            add_break(label, detail::eager_task(std::forward<Callable>(function)), location);
    }

    /// Returns the capture status of the stream: `none` once the capture has ended, by `finish` or by other means.
    [[nodiscard]] CaptureStatus status() const;
    /// Returns the captured stream, borrowed.
    [[nodiscard]] cudaStream_t stream() const noexcept;

    /// Calls `function(stream)` or `function()`, checks the capture, and returns the function's result. The recorded
    /// nodes get `label` and `location`, except nodes already named by inner steps or marks. Throws CaptureError,
    /// naming the step, the location, the mode and the text of CUDA's log, if
    /// - the capture is broken;
    /// - a call failed and nobody has read CUDA's last error, as after <<<>>>; this clears the error. An error left by
    ///   an earlier step, or by the code before this one, is reported before the function is called;
    /// - the step recorded nothing, or the capture refused one of its calls, unless `options` allow it;
    /// - the function swallowed the error of a cudag call in a stream outside the capture.
    /// Exceptions of the function pass through, except in two cases. An Error of CUDA about the capture becomes a
    /// CaptureError naming the step; any Error in a broken capture becomes one naming the step and the call that broke
    /// it.
    template <detail::CaptureStep Callable>
    decltype(auto) step( // cudag: step(label, function) calls function(cudaStream_t) or function()
        std::string_view label, Callable&& function, SourceLocation location = SourceLocation::current()) {
        return step(label, function, StepOptions(), location);
    }
    template <detail::CaptureStep Callable>
    decltype(auto) step( // cudag: step(label, function, options)
        std::string_view label, Callable&& function, StepOptions options,
        SourceLocation location = SourceLocation::current()) {
        using Result = decltype(detail::call_step(function, stream()));
        Step under_way(*this, label, options, location);
        try {
            if constexpr (std::is_void_v<Result>) {
                detail::call_step(function, stream());
                under_way.finish();
            } else {
                Result result = detail::call_step(function, stream());
                under_way.finish();
                return result;
            }
        } catch (...) {
            under_way.rethrow();
        }
    }

    /// Names the nodes recorded since the last mark, or since the start of the step or capture, with `label` and
    /// `location`, except nodes already named by a step. Throws CaptureError if the capture is broken, or if an error
    /// is unread, as `step` does.
    void mark(std::string_view label, // cudag: mark(label) names nodes
              SourceLocation location = SourceLocation::current());

    /// Captures `other`, too: work enqueued there from now on is recorded, after all work recorded in this stream so
    /// far. `other` must be joined before `finish`. Throws CaptureError if `other` is the captured stream itself, the
    /// legacy default stream, or part of another capture.
    void fork(StreamRef other, // cudag: fork(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

    /// Orders the work recorded in this stream from now on after all work recorded in `other`. `other` stays captured:
    /// join it again if it records more. Throws CaptureError if `other` is not part of this capture.
    void join(StreamRef other, // cudag: join(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

    /// Adds a node that records `event` anew in each launch, for other streams, graphs and the host. `event` is an
    /// Event or a `cudaEvent_t`, to outlive every launch, or a shared_ptr to an Event, kept by the graph.
    /// (Event::record in the captured stream differs: it orders the streams of this capture, and no launch records the
    /// event.) Throws CaptureError if the event is null or moved-from, or if the capture is broken.
    template <class GivenEvent>
    void record( // cudag: record(event) marks an event
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::record>())
            add_event(detail::EventUse::record, event, location);
    }

    /// Adds a node that waits, in each launch, for the work outside this graph marked by `event` at that time, or for
    /// nothing if the event marks none. `event` is given, and errors are thrown, as in `record`.
    template <class GivenEvent>
    void wait( // cudag: wait(event) waits for an event
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::wait>())
            add_event(detail::EventUse::wait, event, location);
    }

    /// Calls `function(GraphBuilder&)` at once, to add nodes in place, and returns its result (no reference). The new
    /// nodes come after all work recorded in this stream, and before its next work; `.after` orders them among
    /// themselves. They belong to the current device, and a step or mark names those without a label.
    /// Their handles are valid from then on, in the graph of this capture, and die with it if the capture fails. The
    /// function must not enqueue work into the capture. Its exceptions pass through; after an exception with nodes
    /// already added, `finish` throws CaptureError, because CUDA cannot remove nodes from a graph during its capture.
    /// Throws GraphError if the edges close a cycle, and CaptureError as `step` does.
    /// `finish` reads and checks a graph with such nodes as GraphBuilder::build does, except for races: see
    /// `Graph::races`. This function, `kernel`, `if_` and the like need <cudag/builder.hpp>.
    template <class Callable>
    auto add( // cudag: add(function) calls function(GraphBuilder&)
        Callable&& function, SourceLocation location = SourceLocation::current());

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) with the graph, its clones and Execs, and
    /// their launches in flight. If the capture fails, they are dropped with it. Throws CaptureError after `finish`.
    template <detail::OwnerArgument... Owner>
    void retain(const Owner&... owners) { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        (keep(detail::owner_of(owners)), ...);
    }

  private:
    friend struct detail::Access;
    friend class detail::CaptureAttempt;
    friend class detail::StepRecorder;
    friend class detail::NewRegion;
    StreamCapture(detail::Passkey, std::unique_ptr<detail::CaptureState> state) noexcept;

    /// Guards the execution of one step.
    class CUDAG_EXPORT Step {
      public:
        Step(StreamCapture& capture, std::string_view label, const StepOptions& options,
             const SourceLocation& location);
        ~Step();
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;

        /// Ends the step. Throws CaptureError if the capture was broken, or the step did things not allowed by its
        /// options.
        void finish();
        /// Rethrows the exception being handled, with the name of the step if it is about the capture. Call it in a
        /// catch block.
        [[noreturn]] void rethrow() const;

      private:
        detail::CaptureState& state_;
        std::string_view label_;
        StepOptions options_;
        SourceLocation location_;
        std::uint32_t first_; ///< index of the first node this step may record
        std::size_t orders_;  ///< number of forks and joins before the step
        bool around_allows_;  ///< whether the outer step, or the capture, accepts refused calls
        bool finished_ = false;
    };

    void keep(std::shared_ptr<const void> owner);
    void add_break(std::string_view label, detail::EagerTask&& task, const SourceLocation& location);
    /// Ends the capture under way and returns its graph, and appends its owners to `owners`. Returns nothing if nothing
    /// was recorded and `may_be_empty`.
    [[nodiscard]] std::optional<Graph> end_graph(const detail::CaptureCall& call, bool may_be_empty,
                                                 std::vector<std::shared_ptr<const void>>& owners);
    /// Ends the capture and returns its parts.
    [[nodiscard]] detail::CapturedSegments end_segments(const detail::CaptureCall& call);
    void add_nodes(const detail::GraphBody& function, const SourceLocation& location);
    /// Calls `function(GraphState&)` to add a node in place, as `add` does, and returns its result.
    template <class Function>
    auto place(const SourceLocation& location, const Function& function);
    Node add_conditional(detail::ConditionalKind kind, const Condition& condition, const detail::GraphBody* bodies,
                         std::size_t count, const SourceLocation& location);
    Node add_repeat(unsigned times, const detail::GraphBody& body, const SourceLocation& location);
    [[nodiscard]] Graph build_written();
    /// Checks the nodes added to a joined capture, as build does. Throws GraphError, and breaks the capture then.
    void check_written(const detail::CaptureCall& call);

    template <class GivenEvent>
    void add_event(detail::EventUse use, const GivenEvent& event, const SourceLocation& location) {
        detail::Owners owners;
        const cudaEvent_t native = detail::to_event(event, owners);
        add_event(use, native, std::move(owners), location);
    }
    void add_event(detail::EventUse use, cudaEvent_t event, detail::Owners&& owners, const SourceLocation& location);

    std::unique_ptr<detail::CaptureState> state_;
    std::shared_ptr<detail::CapturedSegments> segments_; ///< before `state_`; null without a break
};

} // namespace cudag
