// How a capture begins, is looked at, and ends.
#include "capture_state.hpp"

#include "cuda_log.hpp"

#include <cudag/detail/cuda_compat.hpp>
#include <cudag/event.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <utility>

namespace cudag::detail {

CaptureState::CaptureState(cudaStream_t stream, CaptureMode mode, const SourceLocation& location, cudaGraph_t into)
    : stream_(stream), mode_(mode), location_(location), into_another_(into != nullptr), logged_(log_position()) {
    constexpr CaptureCall call{"begin"};
    if (stream == nullptr || stream == cudaStreamLegacy)
        refuse<CaptureError>(
            "the legacy default stream cannot be captured: use a cudag::Stream, or cudaStreamPerThread", subject(call),
            cudaErrorStreamCaptureUnsupported);
    if (info(stream).status != CaptureStatus::none)
        refuse<CaptureError>("the stream is being captured already: end that capture first, or fork from it",
                             subject(call), cudaErrorIllegalState);
    const auto native_mode = static_cast<cudaStreamCaptureMode>(mode);
    if (into == nullptr) {
        const cudaError_t status = cudaStreamBeginCapture(stream, native_mode);
        if (status != cudaSuccess) raise_call<CaptureError>(status, "cudaStreamBeginCapture", subject(call));
    } else {
        const cudaError_t status = cudaStreamBeginCaptureToGraph(stream, into, nullptr, nullptr, 0, native_mode);
        if (status != cudaSuccess) raise_call<CaptureError>(status, "cudaStreamBeginCaptureToGraph", subject(call));
    }
    ended_ = false;
    try {
        const Info begun = info(stream);
        id_ = begun.id;
        graph_ = begun.graph;
        names_.emplace(into == nullptr ? 0 : node_count(call), location);
    } catch (...) {
        abandon();
        throw;
    }
}

CaptureState::~CaptureState() {
    abandon();
}

bool CaptureState::abandon() noexcept {
    if (std::exchange(ended_, true)) return false;
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream_, &graph);
    if (status == cudaSuccess && !into_another_) ignore(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    return status == cudaSuccess;
}

CaptureState::Info CaptureState::info(cudaStream_t stream) const {
    cudaStreamCaptureStatus status{};
    Info found;
    const cudaError_t result = compat::stream_get_capture_info(stream, &status, &found.id, &found.graph);
    if (result != cudaSuccess) raise_call<CaptureError>(result, "cudaStreamGetCaptureInfo", subject({"status"}));
    found.status = static_cast<CaptureStatus>(status);
    return found;
}

CaptureStatus CaptureState::status() const {
    if (ended_) return CaptureStatus::none;
    const Info now = info(stream_);
    return now.status == CaptureStatus::active && now.id != id_ ? CaptureStatus::none : now.status;
}

std::uint32_t CaptureState::node_count(const CaptureCall& call) const {
    require_active(call);
    std::size_t count = 0;
    const cudaError_t status = cudaGraphGetNodes(graph_, nullptr, &count);
    if (status != cudaSuccess) raise_call<CaptureError>(status, "cudaGraphGetNodes", subject(call));
    return static_cast<std::uint32_t>(count);
}

Subject CaptureState::subject(const CaptureCall& call) const {
    std::string text = fmt::format("capture at {} ({}): {}", location_, to_string(mode_), call.name);
    if (!call.label.empty()) text += fmt::format(" \"{}\"", call.label);
    if (call.location.line == 0) return {std::move(text), {}, location_};
    text += fmt::format(" at {}", call.location);
    return {std::move(text), {std::string(call.label)}, call.location};
}

void CaptureState::require_active(const CaptureCall& call) const {
    switch (status()) {
    case CaptureStatus::active:
        logged_ = log_position();
        return;
    case CaptureStatus::none:
        refuse<CaptureError>("the capture has ended: something else than its StreamCapture called cudaStreamEndCapture",
                             subject(call), cudaErrorIllegalState);
    case CaptureStatus::invalidated:
        throw broken(call);
    }
}

CaptureError CaptureState::broken(const CaptureCall& call) const {
    Subject what = subject(call);
    const std::optional<LoggedFailure> first = first_capture_failure(logged_);
    const cudaError_t last = cudaGetLastError();
    const cudaError_t code = first ? first->code : is_about_capture(last) ? last : cudaErrorStreamCaptureInvalidated;
    std::string text = fmt::format("cudag: {}: the capture was broken", what.text);
    if (first) text += fmt::format(" by {}{}", first->call, first->on_this_thread ? "" : ", called on another thread");
    text += fmt::format(": {} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
    if (first && !first->causes.empty()) text += fmt::format("; CUDA's log: {}", first->causes);
    if (const char* advice = hint(code); *advice != '\0') text += fmt::format("; {}", advice);
    return CaptureError(code, text,
                        {first ? first->call : std::string(), first ? first->causes : std::string(),
                         std::move(what.labels), what.where});
}

void CaptureState::order(cudaStream_t before, cudaStream_t after, const CaptureCall& call) const {
    const auto require = [&](cudaError_t status, const char* operation) {
        if (status != cudaSuccess) raise_call<CaptureError>(status, operation, subject(call));
    };
    const Event event({.timing = false});
    require(cudaEventRecord(event.get(), before), "cudaEventRecord");
    require(cudaStreamWaitEvent(after, event.get(), cudaEventWaitDefault), "cudaStreamWaitEvent");
}

void CaptureState::fork(cudaStream_t other, const SourceLocation& location) {
    const CaptureCall call{"fork", {}, location};
    require_active(call);
    if (other == stream_) refuse<CaptureError>("a stream cannot fork from itself", subject(call));
    if (other == nullptr || other == cudaStreamLegacy)
        refuse<CaptureError>("the legacy default stream cannot be captured: fork to a cudag::Stream", subject(call),
                             cudaErrorStreamCaptureUnsupported);
    const Info now = info(other);
    if (now.status != CaptureStatus::none && now.id != id_)
        refuse<CaptureError>("the stream is part of another capture: end that first", subject(call),
                             cudaErrorStreamCaptureMerge);
    const std::size_t forks = forks_.size();
    const auto [last, is_first] = unjoined_.try_emplace(other, no_fork);
    try {
        forks_.push_back({location, false, last->second});
        order(stream_, other, call);
    } catch (...) {
        if (forks_.size() > forks) forks_.pop_back();
        if (is_first) unjoined_.erase(last);
        throw;
    }
    last->second = forks;
}

void CaptureState::join(cudaStream_t other, const SourceLocation& location) {
    const CaptureCall call{"join", {}, location};
    require_active(call);
    if (other == stream_) refuse<CaptureError>("a stream cannot join itself", subject(call));
    const Info now = other == nullptr || other == cudaStreamLegacy ? Info() : info(other);
    if (now.status == CaptureStatus::none || now.id != id_)
        refuse<CaptureError>("the stream is not part of this capture: fork it first, and record all that it is to do "
                             "between fork and join",
                             subject(call), cudaErrorStreamCaptureIsolation);
    order(other, stream_, call);
    const auto last = unjoined_.find(other);
    if (last == unjoined_.end()) return;
    for (std::size_t fork = last->second; fork != no_fork; fork = forks_[fork].before)
        forks_[fork].joined = true;
    unjoined_.erase(last);
}

std::vector<cudaGraphNode_t> CaptureState::front() const {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* data = nullptr;
    std::size_t count = 0;
    const cudaError_t result = compat::stream_get_capture_front(stream_, &status, &nodes, &data, &count);
    if (result != cudaSuccess) raise_call<CaptureError>(result, "cudaStreamGetCaptureInfo", subject({"status"}));
    if (status != cudaStreamCaptureStatusActive) throw broken({"status"});
    return {nodes, nodes + count};
}

std::string CaptureState::unjoined_forks() const {
    std::string places;
    for (const Fork& fork : forks_)
        if (!fork.joined) places += fmt::format("{}{}", places.empty() ? "" : ", ", fork.location);
    if (!places.empty()) return fmt::format("what was forked at {} is not joined", places);
    return forks_.empty()
               ? "a stream that an event forked is not joined"
               : "a stream has recorded more since it was joined, or was forked by an event and is not joined";
}

cudaGraph_t CaptureState::end() {
    constexpr CaptureCall call{"finish"};
    if (ended_)
        refuse<CaptureError>("the capture has ended already: finish() is called once", subject(call),
                             cudaErrorIllegalState);
    if (status() == CaptureStatus::none) {
        ended_ = true;
        require_active(call);
    }
    if (mode_ != CaptureMode::relaxed && std::this_thread::get_id() != thread_) // CUDA would drop what was recorded
        refuse<CaptureError>("another thread than the one that began it cannot end a capture: call finish() there, or "
                             "capture with CaptureMode::relaxed",
                             subject(call), cudaErrorStreamCaptureWrongThread);
    std::optional<CaptureError> cause; // known before the end, which fails in turn
    if (status() == CaptureStatus::invalidated) cause = broken(call);
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream_, &graph);
    ended_ = true;
    if (status == cudaSuccess) return graph;
    if (cause) {
        static_cast<void>(cudaGetLastError());
        throw *cause;
    }
    Subject what = subject(call);
    if (status == cudaErrorStreamCaptureUnjoined) what.text += ": " + unjoined_forks();
    raise_call<CaptureError>(status, "cudaStreamEndCapture", std::move(what));
}

} // namespace cudag::detail
