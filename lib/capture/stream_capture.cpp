// StreamCapture: the user's side of a capture.
#include <cudag/stream_capture.hpp>

#include "capture_state.hpp"
#include "cuda/cuda_log.hpp"
#include "cuda/handles.hpp"
#include "graph/construction.hpp"
#include "graph/graph_owners.hpp"
#include "read/reader.hpp"
#include "segments/captured_segments.hpp"
#include "segments/segmented_state.hpp"

#include <cudag/format.hpp>
#include <cudag/segmented_graph.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

namespace {

/// Throws CaptureError, about `call`, if a break cannot stand here, between the recorded nodes.
void require_breakable(detail::CaptureState& state, const detail::CaptureCall& call) {
    const auto refuse = [&](const std::string& fault) {
        detail::refuse<CaptureError>(fault, state.subject(call), cudaErrorIllegalState);
    };
    if (state.host() == detail::CaptureHost::builder)
        refuse("a captured region of a GraphBuilder is part of one graph and has no breaks: capture the function by "
               "capture_segments()");
    if (state.host() == detail::CaptureHost::other)
        refuse("other code ends this capture, in one graph: capture the function by capture_segments() for breaks");
    if (const std::string step = state.open().step_text(); !step.empty())
        refuse(fmt::format("a break cannot stand{}: end the step before it", step));
    const detail::CaptureRecords* const records = state.known_records();
    if (records != nullptr && construction_of(*records->graph()).open_region == nullptr)
        refuse("nodes are being added to this capture: a break stands before or after add()");
}

/// Throws CaptureError if others end the capture.
void require_own_end(const detail::CaptureState& state, const detail::CaptureCall& call) {
    if (state.host() == detail::CaptureHost::self) return;
    detail::refuse<CaptureError>(state.host() == detail::CaptureHost::builder
                                     ? "the GraphBuilder ends this capture: return from the captured function instead"
                                     : "the code that began this capture ends it: leave() it instead",
                                 state.subject(call), cudaErrorIllegalState);
}

} // namespace

StreamCapture::StreamCapture(StreamRef stream, CaptureOptions options, SourceLocation location)
    : state_(std::make_unique<detail::CaptureState>(stream.get(), options, location)) {}

StreamCapture::StreamCapture(detail::Passkey, std::unique_ptr<detail::CaptureState> state) noexcept
    : state_(std::move(state)) {}
StreamCapture::~StreamCapture() = default;

StreamCapture StreamCapture::join_existing(StreamRef stream, CaptureOptions options, SourceLocation location) {
    return {detail::Passkey(),
            std::make_unique<detail::CaptureState>(detail::CaptureState::Existing(), stream.get(), options, location)};
}

void StreamCapture::leave() && {
    const detail::CaptureCall call{"leave"};
    if (state_->host() != detail::CaptureHost::other)
        detail::refuse<CaptureError>("this capture is not joined but begun here: end it by finish()",
                                     state_->subject(call), cudaErrorIllegalState);
    state_->require_active(call);
    const detail::CaptureRecords* const records = state_->known_records();
    const bool is_refused = state_->has_unjoined_fork(); // by end()
    if (!is_refused && records != nullptr && records->has_written()) check_written(call);
    static_cast<void>(state_->end(call));
    state_->lose_own_graph();
}

Graph StreamCapture::finish() && {
    const detail::CaptureCall call{"finish"};
    require_own_end(*state_, call);
    if (segments_ != nullptr && !state_->has_ended()) {
        const detail::CapturedBreak& first = segments_->breaks.front();
        detail::Subject subject = state_->subject(call);
        state_->abandon();
        detail::refuse<CaptureError>(
            fmt::format("the capture has the break \"{}\" at {}, and a Graph has none: end it by finish_segments(), or "
                        "capture by capture_segments()",
                        first.label, first.location),
            std::move(subject), cudaErrorIllegalState);
    }
    std::vector<std::shared_ptr<const void>> owners;
    Graph graph = *end_graph(call, false, owners);
    if (!owners.empty()) keep_owners(detail::Access::state(graph), std::move(owners));
    return graph;
}

std::optional<Graph> StreamCapture::end_graph(const detail::CaptureCall& call, bool may_be_empty,
                                              std::vector<std::shared_ptr<const void>>& owners) {
    detail::UniqueGraph native(state_->end(call));
    try {
        std::size_t count = state_->last_front().size(); // else there are nodes
        if (count == 0) {
            detail::checked<CaptureError>(cudaGraphGetNodes(native.get(), nullptr, &count), "cudaGraphGetNodes");
            if (!may_be_empty) state_->require_nodes(count);
        }
        std::vector<std::shared_ptr<const void>>& kept = state_->owners();
        owners.insert(owners.end(), std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end()));
        kept.clear();
        if (count == 0 && may_be_empty) {
            state_->lose_own_graph();
            return std::nullopt;
        }
        Graph graph =
            state_->known_records() != nullptr
                ? build_written()
                : detail::Access::graph_of(detail::captured_graph(native.get(), std::move(state_->names()),
                                                                  std::move(state_->last_front()), state_->launches()));
        static_cast<void>(native.release());
        return graph;
    } catch (...) {
        state_->lose_own_graph();
        throw;
    }
}

void StreamCapture::add_break(std::string_view label, detail::EagerTask&& task, const SourceLocation& location) {
    const detail::CaptureCall call{"eager", label, location};
    state_->require_active(call);
    require_breakable(*state_, call);
    const auto segments = segments_ != nullptr ? segments_ : std::make_shared<detail::CapturedSegments>();
    segments->graphs.reserve(segments->graphs.size() + 1);
    segments->breaks.reserve(segments->breaks.size() + 1);
    detail::CapturedBreak next{std::string(label), location, std::move(task), 0};
    std::optional<Graph> graph = end_graph(call, true, segments->owners);
    if (graph) segments->graphs.push_back(*std::move(graph));
    next.segments = segments->graphs.size();
    segments->breaks.push_back(std::move(next));
    segments_ = segments;
    state_ = state_->next();
}

SegmentedGraph StreamCapture::finish_segments() && {
    return std::move(*this).finish_segments({});
}

SegmentedGraph StreamCapture::finish_segments(const SegmentOptions& options) && {
    const detail::CaptureCall call{"finish_segments"};
    require_own_end(*state_, call);
    return SegmentedGraph(std::make_shared<detail::SegmentedState>(end_segments(call), options));
}

detail::CapturedSegments StreamCapture::end_segments(const detail::CaptureCall& call) {
    const bool has_breaks = segments_ != nullptr;
    detail::CapturedSegments parts;
    std::optional<Graph> last = end_graph(call, has_breaks, parts.owners);
    if (has_breaks) {
        segments_->owners.insert(segments_->owners.end(), parts.owners.begin(), parts.owners.end());
        parts = std::move(*segments_);
        segments_ = nullptr;
    }
    if (last && last->node_count() != 0) parts.graphs.push_back(*std::move(last));
    return parts;
}

CaptureStatus StreamCapture::status() const {
    return state_->status();
}

cudaStream_t StreamCapture::stream() const noexcept {
    return state_->stream();
}

void StreamCapture::mark(std::string_view label, SourceLocation location) {
    const detail::CaptureCall call{"mark", label, location};
    const std::uint32_t end = state_->node_count(call);
    state_->require_errors_read(call);
    state_->names().mark(label, location, end);
}

void StreamCapture::fork(StreamRef other, SourceLocation location) {
    state_->fork(other.get(), location);
}

void StreamCapture::join(StreamRef other, SourceLocation location) {
    state_->join(other.get(), location);
}

void StreamCapture::add_event(detail::EventUse use, cudaEvent_t event, detail::Owners&& owners,
                              const SourceLocation& location) {
    const bool records = use == detail::EventUse::record;
    const detail::CaptureCall call{records ? "record" : "wait", {}, location};
    state_->require_active(call);
    if (event == nullptr) detail::refuse<CaptureError>("the event is null or was moved from", state_->subject(call));
    for (detail::Owner& owner : owners)
        state_->keep(std::move(owner.object));
    const cudaError_t status = records ? cudaEventRecordWithFlags(event, state_->stream(), cudaEventRecordExternal)
                                       : cudaStreamWaitEvent(state_->stream(), event, cudaEventWaitExternal);
    if (status != cudaSuccess)
        detail::raise_call<CaptureError>(status, records ? "cudaEventRecordWithFlags" : "cudaStreamWaitEvent",
                                         state_->subject(call));
}

void StreamCapture::keep(std::shared_ptr<const void> owner) {
    state_->require_unfinished({"retain"});
    state_->keep(std::move(owner));
}

StreamCapture::Step::Step(StreamCapture& capture, std::string_view label, const StepOptions& options,
                          const SourceLocation& location)
    : state_(*capture.state_), label_(label), options_(options), location_(location),
      first_(state_.node_count({"step", label, location})), orders_(state_.orders()) {
    const detail::CaptureCall call{"step", label, location};
    constexpr const char* before = "before this step, ";
    state_.require_errors_read(call, before);
    state_.require_no_refused_calls(call, before);
    state_.open().begin_step(label, location);
    try {
        state_.names().begin_step(label, location, first_);
    } catch (...) {
        state_.open().end_step();
        throw;
    }
    around_allows_ = state_.allows_refused_calls();
    state_.allow_refused_calls(around_allows_ || options.allow_refused_calls);
}

StreamCapture::Step::~Step() {
    state_.allow_refused_calls(around_allows_);
    state_.open().end_step();
    if (!finished_) state_.names().drop_step();
}

void StreamCapture::Step::finish() {
    const detail::CaptureCall call{"step", label_, location_};
    const std::uint32_t end = state_.node_count(call);
    state_.require_errors_read(call);
    state_.require_no_refused_calls(call);
    state_.require_nothing_passed(call);
    const bool has_work = end != first_ || options_.allow_empty || state_.orders() != orders_;
    state_.require_work(call, has_work);
    state_.require_no_memory_nodes(call, first_);
    state_.names().end_step(end);
    finished_ = true;
}

void StreamCapture::Step::rethrow() const {
    static_cast<void>(state_.open().take_refused()); // reported now
    try {
        throw;
    } catch (const Error& error) {
        std::string_view what = error.what();
        if (constexpr std::string_view prefix = "cudag: "; what.starts_with(prefix)) what.remove_prefix(prefix.size());
        if (what.starts_with(state_.subject({}).text)) throw; // already about an inner step, or this one
        const detail::CaptureCall call{"step", label_, location_};
        if (const std::optional<CaptureError> culprit = state_.broken_before(error, call)) throw *culprit;
        const auto code = static_cast<cudaError_t>(error.code().value());
        if (dynamic_cast<const CaptureError*>(&error) == nullptr && !detail::is_about_capture(code)) throw;
        detail::Subject step = state_.subject(call);
        throw CaptureError(code, fmt::format("cudag: {}: {}", step.text, what),
                           {error.operation(), error.log(), std::move(step.labels), location_});
    }
}

} // namespace cudag
