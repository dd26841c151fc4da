// StreamCapture: records what is enqueued into a stream as a Graph.
#pragma once

#include <cudag/capture_mode.hpp>
#include <cudag/capture_pool.hpp>
#include <cudag/condition.hpp>
#include <cudag/config.hpp>
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
#include <string_view>
#include <type_traits>
#include <utility>

namespace cudag {

struct CaptureOptions {
    CaptureMode mode = CaptureMode::thread_local_;
    /// Whether a capture that recorded no node is a graph without nodes, in a GraphBuilder an empty node. By default it
    /// is an error: the work went into another stream, mostly the legacy default stream, and has run at once. Its steps
    /// may then record nothing, too.
    bool allow_empty = false;
    /// Whether CUDA refuses work in the legacy default stream of the stream's device until the capture ends: the call
    /// fails with cudaErrorStreamCaptureImplicit and does nothing, on every thread, and the capture is broken. By
    /// default such work is not recorded but runs at once, unless the captured stream is a blocking one. Costs a stream
    /// a capture.
    bool refuse_legacy_stream = false;
    /// A CapturePool, by its id, that the graph retains; none by default. The capture throws Error if it is gone.
    PoolId pool = {};
    /// As in StepOptions, for all of the capture.
    bool allow_refused_calls = false;
};

/// What a step of a capture may do that is a mistake as a rule.
struct StepOptions {
    /// Whether a step may record nothing, and neither fork nor join. By default that is an error: the work went into
    /// another stream, has run at once, and would be missing in every replay.
    bool allow_empty = false;
    /// Whether calls of CUDA that fail because of the capture, and leave it alive, are the step's own business, as
    /// those of a library that tries a call and falls back on another. By default they are an error, although the
    /// library may have swallowed it: what they were to do is missing in every replay. CUDA's log tells of them: driver
    /// 12.9 and later.
    bool allow_refused_calls = false;
};

namespace detail {

class CaptureAttempt;
class CaptureState;
class NewRegion;

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

/// Records work instead of running it: what is enqueued into the stream, by any code, becomes nodes of the graph that
/// `finish()` yields. It owns the capture, and a graph only once that has succeeded: destroyed before, by an exception
/// or otherwise, it ends the capture, drops what was recorded, and leaves the stream usable.
/// While it lives, the stream must not be synchronised, queried or destroyed; memory that the work refers to is
/// borrowed, except what `retain` keeps and what cudag's own calls in the stream are given as owners.
/// Work of cudag's own calls (launch, memcpy_async, memset_async, Exec::launch and the like) that this thread gives a
/// stream that is not captured throws CaptureError meanwhile, because it would run once, now, and be missing in every
/// replay; so does the end of the step, or of the capture, if that error was swallowed. Where it is to run now,
/// ThreadCaptureMode(CaptureMode::relaxed) allows it. Other threads are free to.
/// Threads: to be used by the one that made it, unless the mode is relaxed; never by two at once. But for this: several
/// threads at once may `fork` to streams of their own, enqueue into these, `join` them, and `retain`. Nothing else may
/// be done with the capture meanwhile, because CUDA's graphs are for one thread at a time. Join when all have forked:
/// what forks later comes after what has been joined. Nodes stand in the order in which the threads came:
/// Match::structure updates an Exec whatever that is.
class CUDAG_EXPORT StreamCapture {
  public:
    /// Throws CaptureError if `stream` is the legacy default stream, which cannot be captured, or is captured already.
    explicit StreamCapture(StreamRef stream, CaptureOptions options = {},
                           SourceLocation location = SourceLocation::current());
    ~StreamCapture();
    StreamCapture(const StreamCapture&) = delete; // cudag: a StreamCapture stays where it is: pass it by reference
    StreamCapture& operator=(const StreamCapture&) = delete; // cudag: a StreamCapture stays where it is

    /// Ends the capture and hands out the graph. Streams that forked must have been joined: cudag joins none by itself.
    /// Throws CaptureError with the cause if the capture was broken, if a call on the constructor's thread failed
    /// meanwhile and nobody has read CUDA's last error, or if nothing was recorded, unless `allow_empty`; the capture
    /// has ended then. Throws it too on another thread than the constructor's (unless relaxed), where the capture goes
    /// on. Once only; not for a capture that GraphBuilder::capture has begun, which ends it itself.
    [[nodiscard]] Graph finish() &&; // cudag: finish() ends the capture: std::move(capture).finish()

    /// Of the stream; `none` too after something else than `finish` has ended the capture.
    [[nodiscard]] CaptureStatus status() const;
    /// The stream that is captured, borrowed.
    [[nodiscard]] cudaStream_t stream() const noexcept;

    /// Calls `function(stream)` or `function()` and returns what it returns, then makes sure that the capture still
    /// stands: throws CaptureError, naming the step, the location, the mode and CUDA's own account, if it does not, or
    /// if a call failed and nobody has read CUDA's last error, as after <<<>>>. That is cleared; what an earlier step
    /// or the code before it has left is told at the beginning. Throws CaptureError too if the step records nothing, or
    /// if the capture has refused a call of it, unless `options` allow that.
    /// What it throws passes through; an Error of CUDA about the capture becomes a CaptureError that names the step. So
    /// does any Error once the capture is broken, and names the call that broke it.
    /// The nodes that it records get `label` and `location`, but for those that inner steps or marks have named.
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

    /// Names the nodes recorded since the last mark, or since the start; in a step, since its start. They get `label`
    /// and `location`, but for those that a step has named. Throws CaptureError if the capture is broken, or an error
    /// is unread, as `step` does.
    void mark(std::string_view label, // cudag: mark(label) names nodes
              SourceLocation location = SourceLocation::current());

    /// What is enqueued into `other` from now on is captured too, and comes after all that this stream has recorded so
    /// far. `other` must be joined before `finish`. Throws CaptureError if it is the captured stream itself, the legacy
    /// default stream or part of another capture.
    void fork(StreamRef other, // cudag: fork(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

    /// What this stream records from now on comes after all that `other` has recorded. `other` stays captured: join it
    /// again if it records more. Throws CaptureError if `other` is not part of this capture.
    void join(StreamRef other, // cudag: join(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

    /// Records a node that marks `event` anew in each launch, for other streams, graphs and the host: an Event or
    /// `cudaEvent_t`, which must outlive every launch, or a shared_ptr to an Event, which is kept. (An event that is
    /// recorded by its own `record` orders the streams of this capture, and no launch marks it.) Throws CaptureError if
    /// the event is null or was moved from, or if the capture is broken.
    template <class GivenEvent>
    void record( // cudag: record(event) marks an event
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::record>())
            add_event(detail::EventUse::record, event, location);
    }

    /// Records a node that waits, in each launch, for the work outside this graph that `event`, given as to `record`,
    /// marks by then; if it marks none, for nothing. Throws as `record` does.
    template <class GivenEvent>
    void wait( // cudag: wait(event) waits for an event
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::wait>())
            add_event(detail::EventUse::wait, event, location);
    }

    /// Calls `function(GraphBuilder&)` at once, and returns what it returns, which is no reference. The nodes that it
    /// adds come after all that this stream has recorded, and before what it records next; among themselves they are
    /// ordered by `.after`. Their handles are valid from then on, in the graph of this capture, and die with it if the
    /// capture fails. They belong to the current device; a step or mark names those that have no label. The function
    /// enqueues nothing into the capture. What it throws passes through. If that comes after nodes were added, `finish`
    /// throws CaptureError, since CUDA removes none from a graph that is being captured. Throws GraphError if the edges
    /// close a cycle, CaptureError as `step` does. A graph with such nodes is read and checked by `finish`, as by
    /// GraphBuilder::build, but for races, which `Graph::races` tells. This and the functions below that add nodes need
    /// <cudag/builder.hpp>.
    template <class Callable>
    auto add( // cudag: add(function) calls function(GraphBuilder&)
        Callable&& function, SourceLocation location = SourceLocation::current());

    /// Adds a kernel node in its place, as GraphBuilder::kernel does, for a handle with types.
    template <class Kernel, class... Argument>
    auto kernel( // cudag: kernel(config, function, arguments...); of overloads or a template, say which: f<int>
        detail::Located<LaunchConfig> config, Kernel&& function, Argument&&... arguments);
    template <class Kernel, class... Argument>
    auto kernel(const detail::BracedConfig& config, Kernel&& function, Argument&&... arguments);

    /// Makes a condition for one conditional of this capture, as GraphBuilder::condition does.
    [[nodiscard]] Condition condition(unsigned initial, SourceLocation location = SourceLocation::current());
    [[nodiscard]] Condition condition(SourceLocation location = SourceLocation::current());

    /// Add conditionals in their place, and what sets conditions, as the functions of GraphBuilder of these names do.
    IfNode if_( // cudag: if_(condition, then), with a Condition of capture.condition()
        const Condition& condition, detail::GraphBody then, SourceLocation location = SourceLocation::current());
    IfNode if_(const Condition& condition, detail::GraphBody then, detail::GraphBody else_,
               SourceLocation location = SourceLocation::current());
    WhileNode while_( // cudag: while_(condition, body), with a Condition of capture.condition()
        const Condition& condition, detail::GraphBody body, SourceLocation location = SourceLocation::current());
    template <std::integral Number>
    WhileNode repeat( // cudag: repeat(times, body) takes a number; while_(condition, body) lets kernels decide
        Number times, detail::GraphBody body, SourceLocation location = SourceLocation::current());
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of capture.condition()
        const Condition& condition, std::initializer_list<detail::GraphBody> bodies,
        SourceLocation location = SourceLocation::current());
    template <detail::GraphBodies Bodies>
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of capture.condition()
        const Condition& condition, Bodies&& bodies, SourceLocation location = SourceLocation::current());
    template <class... Argument>
    auto set( // cudag: set(condition, value), with a Condition of capture.condition()
        detail::Located<Condition> condition, const Argument&... values);

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) with the graph, its clones and Execs and
    /// their launches in flight. Dropped with the capture if that fails. Throws CaptureError after `finish`.
    template <detail::OwnerArgument... Owner>
    void retain(const Owner&... owners) { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        (keep(detail::owner_of(owners)), ...);
    }

  private:
    friend class detail::CaptureAttempt;
    friend class detail::NewRegion;
    StreamCapture(detail::Passkey, std::unique_ptr<detail::CaptureState> state) noexcept;

    /// The time of one step.
    class CUDAG_EXPORT Step {
      public:
        Step(StreamCapture& capture, std::string_view label, const StepOptions& options,
             const SourceLocation& location);
        ~Step();
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;

        /// Throws CaptureError if the capture was broken, or the step did what its options do not allow.
        void finish();
        /// Inside a catch block: throws what is in flight, named if it is about the capture.
        [[noreturn]] void rethrow() const;

      private:
        detail::CaptureState& state_;
        std::string_view label_;
        StepOptions options_;
        SourceLocation location_;
        std::uint32_t first_; ///< the first node that it may record
        std::size_t orders_;  ///< how many forks and joins there were before it
        bool around_allows_;  ///< the step around it, or the capture: refused calls
        bool finished_ = false;
    };

    void keep(std::shared_ptr<const void> owner);
    void add_nodes(const detail::GraphBody& function, const SourceLocation& location);
    [[nodiscard]] Graph build_written();

    template <class GivenEvent>
    void add_event(detail::EventUse use, const GivenEvent& event, const SourceLocation& location) {
        detail::Owners owners;
        const cudaEvent_t native = detail::to_event(event, owners);
        add_event(use, native, std::move(owners), location);
    }
    void add_event(detail::EventUse use, cudaEvent_t event, detail::Owners&& owners, const SourceLocation& location);

    std::unique_ptr<detail::CaptureState> state_;
};

} // namespace cudag
