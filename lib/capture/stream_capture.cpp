// StreamCapture: the user's side of a capture.
#include <cudag/stream_capture.hpp>

#include "capture_state.hpp"
#include "cuda/cuda_log.hpp"
#include "cuda/handles.hpp"
#include "graph/graph_owners.hpp"
#include "read/reader.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cudag {

StreamCapture::StreamCapture(StreamRef stream, CaptureOptions options, SourceLocation location)
    : state_(std::make_unique<detail::CaptureState>(stream.get(), options, location)) {}

StreamCapture::StreamCapture(detail::Passkey, std::unique_ptr<detail::CaptureState> state) noexcept
    : state_(std::move(state)) {}
StreamCapture::~StreamCapture() = default;

Graph StreamCapture::finish() && {
    if (state_->is_into_another())
        detail::refuse<CaptureError>("the GraphBuilder ends this capture: return from the captured function instead",
                                     state_->subject({"finish"}), cudaErrorIllegalState);
    detail::UniqueGraph native(state_->end());
    try {
        if (state_->last_front().empty()) { // else there are nodes
            std::size_t count = 0;
            detail::checked<CaptureError>(cudaGraphGetNodes(native.get(), nullptr, &count), "cudaGraphGetNodes");
            state_->require_nodes(count);
        }
        std::vector<std::shared_ptr<const void>> owners = std::move(state_->owners());
        Graph graph =
            state_->known_records() != nullptr
                ? build_written()
                : detail::Access::graph_of(detail::captured_graph(native.get(), std::move(state_->names()),
                                                                  std::move(state_->last_front()), state_->launches()));
        static_cast<void>(native.release());
        if (!owners.empty()) keep_owners(detail::Access::state(graph), std::move(owners));
        return graph;
    } catch (...) {
        state_->lose_own_graph();
        throw;
    }
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
    std::vector<std::shared_ptr<const void>>& kept = state_->owners();
    kept.reserve(kept.size() + owners.size());
    const cudaError_t status = records ? cudaEventRecordWithFlags(event, state_->stream(), cudaEventRecordExternal)
                                       : cudaStreamWaitEvent(state_->stream(), event, cudaEventWaitExternal);
    if (status != cudaSuccess)
        detail::raise_call<CaptureError>(status, records ? "cudaEventRecordWithFlags" : "cudaStreamWaitEvent",
                                         state_->subject(call));
    for (detail::Owner& owner : owners)
        kept.push_back(std::move(owner.object));
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
