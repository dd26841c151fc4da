// Beginning, state and end of a capture.
#include "capture_state.hpp"

#include "cuda/compat.hpp"
#include "cuda/cuda_log.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "graph/construction.hpp"
#include "graph/native_graph.hpp"
#include "node/rules.hpp"
#include "unjoined_work.hpp"

#include <cudag/capture_pool.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cudag::detail {

namespace {

/// Whether `call` is a launch or a wait. For any other call, the error code alone shows whether the capture is broken.
bool is_launch_or_wait(std::string_view call) {
    return (call.starts_with("cuLaunch") && call != "cuLaunchHostFunc") || call.starts_with("cuStreamWaitEvent");
}

/// Returns the failure that broke a capture, as far as can be known; null if none is.
const LoggedFailure* breaking(const std::vector<LoggedFailure>& failures) {
    const auto first = [&](auto&& is_it) -> const LoggedFailure* {
        const auto found = std::find_if(failures.begin(), failures.end(), is_it);
        return found == failures.end() ? nullptr : &*found;
    };
    const auto breaks = [](const LoggedFailure& f) {
        return is_about_capture(f.code) && f.code != cudaErrorStreamCaptureInvalidated;
    };
    const auto* found =
        first([&](const LoggedFailure& f) { return breaks(f) || (f.on_this_thread && is_launch_or_wait(f.call)); });
    if (found == nullptr) found = first([](const LoggedFailure& f) { return is_launch_or_wait(f.call); });
    if (found == nullptr) found = first([](const LoggedFailure& f) { return is_about_capture(f.code); });
    return found;
}

/// Makes a stream on the same device: the device's legacy default stream waits for it.
UniqueStream blocking_stream_beside(cudaStream_t stream) {
    const DeviceGuard device(stream);
    cudaStream_t made = nullptr;
    checked<CaptureError>(cudaStreamCreate(&made), "cudaStreamCreate");
    return UniqueStream(made);
}

std::string describe_code(cudaError_t code) {
    return fmt::format("{} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
}

/// Shortens the text of an error caused by a broken capture: the capture's own error repeats prefix and advice.
std::string_view without_advice(std::string_view what) {
    if (constexpr std::string_view prefix = "cudag: "; what.starts_with(prefix)) what.remove_prefix(prefix.size());
    const std::string_view advice = hint(cudaErrorStreamCaptureInvalidated, {});
    if (what.ends_with(advice)) what.remove_suffix(advice.size());
    if (what.ends_with("; ")) what.remove_suffix(2);
    return what;
}

/// Returns the remedy for a call that has failed with `code` and broken the capture. `call` is empty if unknown.
std::string advice(cudaError_t code, std::string_view call, bool in_step) {
    if (is_launch_or_wait(call) && !is_about_capture(code))
        return call.starts_with("cuLaunch")
                   ? "launch with cudag::launch, which names the kernel and what is wrong with it"
                   : "wait for an event that was recorded";
    if (call.empty() && in_step)
        return "a call of this step broke it: wrap each in cudag::check, which throws where it fails; if none does, it "
               "was another thread's, such as cudaDeviceSynchronize, which breaks captures in every mode";
    return hint(code, call);
}

} // namespace

CaptureState::CaptureState(cudaStream_t stream, const CaptureOptions& options, const SourceLocation& location,
                           std::shared_ptr<GraphState> into, std::uint32_t nodes)
    : stream_(stream), options_(options), location_(location),
      host_(into == nullptr ? CaptureHost::self : CaptureHost::builder), into_(std::move(into)), natives_before_(nodes),
      logged_(log_position()), stale_(cudaPeekAtLastError()), refusals_read_(logged_),
      allows_refused_calls_(options.allow_refused_calls) {
    constexpr CaptureCall call{"begin"};
    if (stream == nullptr || stream == cudaStreamLegacy)
        refuse<CaptureError>(
            "the legacy default stream cannot be captured: use a cudag::Stream, or cudaStreamPerThread", subject(call),
            cudaErrorStreamCaptureUnsupported);
    if (info(stream).status != CaptureStatus::none)
        refuse<CaptureError>("the stream is being captured already: end that capture first, or fork from it",
                             subject(call), cudaErrorIllegalState);
    if (options.pool != PoolId()) owners_.push_back(CapturePool::find(options.pool).owner());
    if (options.refuse_legacy_stream) blocking_ = blocking_stream_beside(stream);
    const auto native_mode = static_cast<cudaStreamCaptureMode>(options.mode);
    if (into_ == nullptr) {
        const cudaError_t status = cudaStreamBeginCapture(stream, native_mode);
        if (status != cudaSuccess) raise_call<CaptureError>(status, "cudaStreamBeginCapture", subject(call));
    } else {
        const cudaError_t status =
            cudaStreamBeginCaptureToGraph(stream, native_of(*into_), nullptr, nullptr, 0, native_mode);
        if (status != cudaSuccess) raise_call<CaptureError>(status, "cudaStreamBeginCaptureToGraph", subject(call));
    }
    ended_.reset();
    try {
        const Info begun = info(stream);
        id_ = begun.id;
        graph_ = begun.graph;
        names_.emplace(nodes, location);
        launches_.emplace(id_);
        captured_owners_.emplace(id_);
        open_.emplace(stream, location, to_string(options.mode));
        by_number_.emplace(id_, *this);
        // A fork without work of its own changes nothing in the graph, and needs no join.
        if (blocking_) order(stream, blocking_.get(), call);
    } catch (...) {
        abandon();
        throw;
    }
}

CaptureState::CaptureState(Existing, cudaStream_t stream, const CaptureOptions& options, const SourceLocation& location)
    : stream_(stream), options_(options), location_(location), host_(CaptureHost::other), natives_before_(0),
      logged_(log_position()), stale_(cudaPeekAtLastError()), refusals_read_(logged_),
      allows_refused_calls_(options.allow_refused_calls) {
    constexpr CaptureCall call{"join_existing"};
    if (options.mode != CaptureMode::thread_local_ || options.refuse_legacy_stream)
        refuse<CaptureError>(
            "the code that begins a capture chooses its mode, and whether it refuses the legacy stream: "
            "leave both as they are by default",
            subject(call));
    const Info now = stream == nullptr || stream == cudaStreamLegacy ? Info() : info(stream);
    if (now.status == CaptureStatus::none)
        refuse<CaptureError>("the stream is not being captured: begin a capture with StreamCapture(stream), or join in "
                             "the stream that the other code captures",
                             subject(call), cudaErrorIllegalState);
    if (now.status == CaptureStatus::invalidated)
        refuse<CaptureError>("the capture was broken before, by a call of other code", subject(call),
                             cudaErrorStreamCaptureInvalidated);
    id_ = now.id;
    graph_ = now.graph;
    ended_.reset();
    natives_before_ = node_count(call);
    names_.emplace(natives_before_, location);
    if (options.pool != PoolId()) keep(CapturePool::find(options.pool).owner());
    open_.emplace(stream, location, how());
    by_number_.emplace(id_, *this);
}

CaptureState::~CaptureState() {
    abandon();
}

std::unique_ptr<CaptureState> CaptureState::next() const {
    auto begun = std::make_unique<CaptureState>(stream_, options_, location_);
    if (allows_legacy_stream_) begun->allow_legacy_stream();
    return begun;
}

void CaptureState::allow_legacy_stream() noexcept {
    allows_legacy_stream_ = true;
    open_->allow_legacy_stream();
}

CaptureEnd CaptureState::abandon() noexcept {
    if (ended_) return *ended_;
    set_ended(host_ == CaptureHost::other || is_gone() ? CaptureEnd::elsewhere : CaptureEnd::badly);
    if (ended_ == CaptureEnd::badly) {
        cudaGraph_t graph = nullptr;
        if (cudaStreamEndCapture(stream_, &graph) == cudaSuccess) {
            ended_ = CaptureEnd::well;
            if (host_ == CaptureHost::self) ignore(cudaGraphDestroy(graph));
        }
    }
    lose_own_graph();
    static_cast<void>(cudaGetLastError());
    return *ended_;
}

bool CaptureState::is_gone() const noexcept {
    try {
        return status() == CaptureStatus::none;
    } catch (const Error&) { // the capture's end will report it
        return false;
    }
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
    const bool is_another = id_ != 0 && now.id != id_; // 0: just begun, the id is not yet known
    return now.status == CaptureStatus::active && is_another ? CaptureStatus::none : now.status;
}

std::uint32_t CaptureState::node_count(const CaptureCall& call) const {
    require_active(call);
    std::size_t count = 0;
    const cudaError_t status = cudaGraphGetNodes(graph_, nullptr, &count);
    if (status != cudaSuccess) raise_call<CaptureError>(status, "cudaGraphGetNodes", subject(call));
    return static_cast<std::uint32_t>(count);
}

const char* CaptureState::how() const noexcept {
    return host_ == CaptureHost::other ? "joined" : to_string(options_.mode);
}

Subject CaptureState::subject(const CaptureCall& call) const {
    std::string text = fmt::format("capture at {} ({}): {}", location_, how(), call.name);
    if (!call.label.empty()) text += fmt::format(" \"{}\"", call.label);
    if (call.location.line == 0) return {std::move(text), {}, location_};
    text += fmt::format(" at {}", call.location);
    return {std::move(text), {std::string(call.label)}, call.location};
}

void CaptureState::require_active(const CaptureCall& call) const {
    require_unfinished(call);
    switch (status()) {
    case CaptureStatus::active:
        if (std::this_thread::get_id() == thread_ && cudaPeekAtLastError() == cudaSuccess) {
            logged_ = log_position();
            stale_ = cudaSuccess;
        }
        return;
    case CaptureStatus::none:
        refuse<CaptureError>(
            host_ == CaptureHost::other
                ? "the capture has ended: leave() it, or destroy the StreamCapture, before the code that began it ends "
                  "it"
                : "the capture has ended: something other than its StreamCapture called cudaStreamEndCapture",
            subject(call), cudaErrorIllegalState);
    case CaptureStatus::invalidated:
        if (host_ == CaptureHost::other) require_unspoiled(call);
        throw broken(call);
    }
}

std::optional<CaptureError> CaptureState::broken_before(const Error& error, const CaptureCall& call) const {
    try {
        if (status() != CaptureStatus::invalidated) return std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
    const std::vector<LoggedFailure> failures = failures_since(logged_);
    const LoggedFailure* cause = breaking(failures);
    const auto code = static_cast<cudaError_t>(error.code().value());
    const bool is_reported = cause != nullptr ? cause->code == code && cause->causes == error.log()
                                              : code != cudaErrorStreamCaptureInvalidated;
    if (is_reported) return std::nullopt;
    return broken(call, error.what());
}

CaptureError CaptureState::broken(const CaptureCall& call, std::string_view thrown_after) const {
    Subject what = subject(call);
    const std::vector<LoggedFailure> failures = failures_since(logged_);
    const LoggedFailure* cause = breaking(failures);
    const LoggedFailure known = cause != nullptr ? *cause : LoggedFailure{cudaSuccess, {}, {}, true};
    const cudaError_t last = cudaGetLastError();
    const bool is_last = last != cudaSuccess && (last != stale_ || is_about_capture(last));
    const cudaError_t code = cause != nullptr ? known.code : is_last ? last : cudaErrorStreamCaptureInvalidated;
    std::string text = fmt::format("cudag: {}: the capture was broken", what.text);
    if (cause != nullptr)
        text += fmt::format(" by {}{}", known.call, known.on_this_thread ? "" : ", called on another thread");
    text += ": " + describe_code(code);
    if (!known.causes.empty()) text += fmt::format("; CUDA's log: {}", known.causes);
    if (const std::string remedy = advice(code, known.call, call.name == "step"); !remedy.empty())
        text += "; " + remedy;
    if (!thrown_after.empty()) text += fmt::format("; then {}", without_advice(thrown_after));
    return CaptureError(code, text, {known.call, known.causes, std::move(what.labels), what.where});
}

void CaptureState::require_unfinished(const CaptureCall& call) const {
    if (ended_ && ended_ != CaptureEnd::elsewhere)
        refuse<CaptureError>(host_ == CaptureHost::other
                                 ? "the capture was left by leave(): join it again"
                                 : "the capture has ended with its finish(), and records no more: begin another one",
                             subject(call), cudaErrorIllegalState);
}

void CaptureState::require_errors_read(const CaptureCall& call, const char* when) const {
    if (std::this_thread::get_id() != thread_) return; // another thread has another last error
    const cudaError_t last = cudaPeekAtLastError();
    if (last == cudaSuccess) return;
    const std::vector<LoggedFailure> failures = failures_since(logged_);
    const auto find = [&](cudaError_t code) {
        return std::find_if(failures.rbegin(), failures.rend(),
                            [&](const LoggedFailure& f) { return f.on_this_thread && f.code == code; });
    };
    auto found = find(last);
    if (found == failures.rend() && last == stale_) return;
    if (found == failures.rend()) found = find(cudaSuccess); // the runtime's own failures are logged without a code
    const LoggedFailure failure = found != failures.rend() ? *found : LoggedFailure{last, {}, {}, true};
    static_cast<void>(cudaGetLastError());
    logged_ = log_position();
    stale_ = cudaSuccess;
    Subject what = subject(call);
    std::string text = fmt::format("cudag: {}: {}{} failed, and its error was not read: {}", what.text, when,
                                   failure.call.empty() ? "a call" : failure.call, describe_code(last));
    if (!failure.causes.empty()) text += fmt::format("; CUDA's log: {}", failure.causes);
    text += "; wrap each call in cudag::check, and check(cudaGetLastError()) after <<<>>>";
    throw CaptureError(last, text, {failure.call, failure.causes, std::move(what.labels), what.where});
}

void CaptureState::require_no_refused_calls(const CaptureCall& call, const char* when) {
    const LogPosition from = std::exchange(refusals_read_, log_position());
    if (allows_refused_calls_ || from == refusals_read_ || std::this_thread::get_id() != thread_) return;
    const std::vector<LoggedFailure> failures = failures_since(from);
    const auto refused = std::ranges::find_if(failures, [](const LoggedFailure& failure) {
        return failure.on_this_thread && is_about_capture(failure.code);
    });
    if (refused == failures.end()) return;
    Subject what = subject(call);
    std::string text = fmt::format("cudag: {}: {}{} was refused because of the capture, which goes on without it: {}",
                                   what.text, when, refused->call, describe_code(refused->code));
    if (!refused->causes.empty()) text += fmt::format("; CUDA's log: {}", refused->causes);
    text += "; the caller has not reported it, and its effect would be missing in every replay: make it before the "
            "capture, or use calls that can be captured instead; if the caller already does so, allow it with "
            "StepOptions{.allow_refused_calls = true}";
    throw CaptureError(refused->code, text, {refused->call, refused->causes, std::move(what.labels), what.where});
}

void CaptureState::require_nothing_passed(const CaptureCall& call) {
    if (const std::string refused = open_->take_refused(); !refused.empty())
        refuse<CaptureError>(refused, subject(call), cudaErrorStreamCaptureUnsupported);
}

void CaptureState::require_work(const CaptureCall& call, bool has_work) const {
    if (has_work || options_.allow_empty) return;
    refuse<CaptureError>(
        "the step recorded nothing: only work in the captured stream, or in one forked from it, becomes nodes; work "
        "without a stream, or in another one, runs at once and is missing in every replay. Give each call the stream, "
        "or allow an empty step with StepOptions{.allow_empty = true}",
        subject(call));
}

void CaptureState::require_no_memory_nodes(const CaptureCall& call, std::uint32_t first) const {
    if (options_.memory_nodes == MemoryNodes::allowed) return;
    for (const cudaGraphNode_t node : nodes_from(graph_, first)) {
        const NodeKind kind = kind_of(node);
        if (!is_graph_memory(kind)) continue;
        refuse<CaptureError>(
            fmt::format("{} graph memory was recorded, by {} or the like, and the capture refuses memory nodes; use a "
                        "CapturePool or memory allocated before the capture, or allow them with "
                        "CaptureOptions{{.memory_nodes = MemoryNodes::allowed}}",
                        kind == NodeKind::alloc ? "an allocation of" : "a free of",
                        kind == NodeKind::alloc ? "cudaMallocAsync" : "cudaFreeAsync"),
            subject(call));
    }
}

void CaptureState::require_nodes(std::size_t count) {
    if (count != 0 || options_.allow_empty) return;
    recorded_nothing_ = true;
    constexpr std::size_t most = 10;
    const std::vector<NamedNodes>& steps = names_->stretches();
    std::string ran;
    for (std::size_t i = 0; i < std::min(steps.size(), most); ++i)
        ran += fmt::format("{}\"{}\" at {}", i == 0 ? "" : ", ", steps[i].label, steps[i].location);
    if (steps.size() > most) ran += fmt::format(", and {} more", steps.size() - most);
    if (!ran.empty()) ran = fmt::format(" by the steps {}", ran);
    const char* const elsewhere = options_.refuse_legacy_stream
                                      ? "work in another stream runs at once there"
                                      : "work without a stream, such as f<<<1, 1>>>() and cudaMemcpy(), goes into the "
                                        "legacy default stream and runs at once";
    refuse<CaptureError>(
        fmt::format(
            "nothing was recorded{}: only work in the captured stream, or in one forked from it, becomes nodes; {}. "
            "Give each call the stream, or ask for an empty graph with CaptureOptions{{.allow_empty = true}}",
            ran, elsewhere),
        subject({"finish"}));
}

void CaptureState::order(cudaStream_t before, cudaStream_t after, const CaptureCall& call) {
    const OrderResult ordered = stream_orders_.order(before, after);
    if (ordered.status != cudaSuccess) raise_call<CaptureError>(ordered.status, ordered.operation, subject(call));
}

std::size_t CaptureState::orders() {
    const std::scoped_lock lock(mutex_);
    return orders_;
}

std::vector<std::shared_ptr<const void>>& CaptureState::owners() {
    if (captured_owners_) captured_owners_->move_to(owners_);
    return owners_;
}

void CaptureState::keep(std::shared_ptr<const void> owner) {
    if (host_ == CaptureHost::other) return keep_with_capture(stream_, {{0, 0, std::move(owner)}});
    const std::scoped_lock lock(mutex_);
    if (owner) owners_.push_back(std::move(owner));
}

void CaptureState::fork(cudaStream_t other, const SourceLocation& location) {
    const CaptureCall call{"fork", {}, location};
    const std::scoped_lock lock(mutex_);
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
        forks_.push_back({location, open_->step_text(), other, false, last->second});
        order(stream_, other, call);
        ++orders_;
    } catch (...) {
        if (forks_.size() > forks) forks_.pop_back();
        if (is_first) unjoined_.erase(last);
        throw;
    }
    last->second = forks;
}

void CaptureState::join(cudaStream_t other, const SourceLocation& location) {
    const CaptureCall call{"join", {}, location};
    const std::scoped_lock lock(mutex_);
    require_active(call);
    if (other == stream_) refuse<CaptureError>("a stream cannot join itself", subject(call));
    const Info now = other == nullptr || other == cudaStreamLegacy ? Info() : info(other);
    if (now.status == CaptureStatus::none || now.id != id_)
        refuse<CaptureError>(
            "the stream is not part of this capture: fork it first, and record all its work between fork and join",
            subject(call), cudaErrorStreamCaptureIsolation);
    order(other, stream_, call);
    ++orders_;
    const auto last = unjoined_.find(other);
    if (last == unjoined_.end()) return;
    for (std::size_t fork = last->second; fork != no_fork; fork = forks_[fork].before)
        forks_[fork].joined = true;
    unjoined_.erase(last);
}

std::vector<cudaGraphNode_t> CaptureState::front(cudaStream_t stream) const {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* data = nullptr;
    std::size_t count = 0;
    const cudaError_t result = compat::stream_get_capture_front(stream, &status, &nodes, &data, &count);
    if (result != cudaSuccess) raise_call<CaptureError>(result, "cudaStreamGetCaptureInfo", subject({"status"}));
    if (status != cudaStreamCaptureStatusActive) throw broken({"status"});
    return {nodes, nodes + count};
}

CaptureRecords& CaptureState::records() {
    if (records_) return *records_;
    std::shared_ptr<GraphState> graph = into_;
    if (graph == nullptr) {
        graph = make_graph(graph_);
        give_up_native(*graph);
        construction_of(*graph).open_region = &location_;
        construction_of(*graph).is_captured_into = true;
    }
    // A graph of other code has nodes that nobody has described.
    records_.emplace(std::move(graph), host_ == CaptureHost::other ? 0 : natives_before_, location_);
    return *records_;
}

void CaptureState::continue_after(std::vector<cudaGraphNode_t>&& nodes, const CaptureCall& call,
                                  cudaStream_t stream) const {
    const cudaError_t status = compat::stream_set_capture_front(stream, nodes.data(), nodes.size());
    if (status != cudaSuccess) raise_call<CaptureError>(status, "cudaStreamUpdateCaptureDependencies", subject(call));
}

void CaptureState::spoil(const SourceLocation& where) noexcept {
    spoiled_at_ = where;
    if (host_ != CaptureHost::other) return;
    ignore(cudaStreamSynchronize(stream_)); // breaks a capture
    static_cast<void>(cudaGetLastError());
}

void CaptureState::require_unspoiled(const CaptureCall& call) const {
    if (!spoiled_at_) return;
    refuse<CaptureError>(fmt::format("adding nodes at {} failed, and CUDA removes no nodes from a graph that is being "
                                     "captured: let the exception leave the captured function, and capture it again",
                                     *spoiled_at_),
                         subject(call));
}

void CaptureState::lose_own_graph() noexcept {
    if (!records_ || host_ == CaptureHost::builder) return;
    set_destroyed_by(*records_->graph(), location_);
    records_.reset();
}

std::string CaptureState::unjoined_forks(std::string_view work) const {
    std::string places, streams;
    for (const Fork& fork : forks_) {
        if (fork.joined) continue;
        places += fmt::format("{}{}", places.empty() ? "" : ", ", fork.location);
        streams +=
            fmt::format("{}stream {}{}", streams.empty() ? "" : ", ", static_cast<const void*>(fork.stream), fork.step);
    }
    std::string text;
    if (!places.empty())
        text = fmt::format("work forked at {} is not joined: {}", places, streams);
    else if (forks_.empty())
        text = "a stream that an event forked is not joined";
    else
        text = "a stream has recorded more since it was joined, or was forked by an event and is not joined";
    if (!work.empty()) return fmt::format("{}; nothing waits for {}", text, work);
    if (places.empty()) text += "; record it in steps (StreamCapture::step) to learn which work that is";
    return text;
}

cudaGraph_t CaptureState::end(const CaptureCall& call) {
    if (ended_)
        refuse<CaptureError>("the capture has ended already: finish() is called once", subject(call),
                             cudaErrorIllegalState);
    const CaptureStatus now = status();
    if (now == CaptureStatus::none) {
        set_ended(CaptureEnd::elsewhere);
        require_active(call);
    }
    if (host_ == CaptureHost::other && has_unjoined_fork())
        refuse<CaptureError>(unjoined_forks({}), subject(call), cudaErrorStreamCaptureUnjoined);
    if (host_ != CaptureHost::other && options_.mode != CaptureMode::relaxed &&
        std::this_thread::get_id() != thread_) // CUDA would drop the recorded work
        refuse<CaptureError>("only the thread that began a capture can end it: call finish() there, or capture with "
                             "CaptureMode::relaxed",
                             subject(call), cudaErrorStreamCaptureWrongThread);
    std::string unjoined;
    std::optional<CaptureError> cause; // known before the end, which fails in turn
    if (now == CaptureStatus::invalidated) {
        cause = broken(call);
    } else {
        try {
            require_errors_read(call);
            require_no_refused_calls(call);
            require_nothing_passed(call);
            require_unspoiled(call);
            require_no_memory_nodes(call, natives_before_);
            last_front_ = front(stream_);
            // Found now: a failed end destroys unjoined work. The search costs as much as a CUDA call for each node.
            const bool may_be_told =
                host_ != CaptureHost::other && (has_unjoined_fork() || !names_->stretches().empty());
            if (may_be_told) unjoined = unjoined_work(graph_, natives_before_, last_front_, *names_);
            if (call.name == "eager" && has_unjoined_fork()) // CUDA accepts a fork without work, but no later join
                refuse<CaptureError>(unjoined_forks(unjoined), subject(call), cudaErrorStreamCaptureUnjoined);
        } catch (...) {
            abandon();
            throw;
        }
    }
    cudaGraph_t graph = graph_;
    const cudaError_t status = host_ != CaptureHost::other ? cudaStreamEndCapture(stream_, &graph)
                               : cause                     ? cudaErrorStreamCaptureInvalidated
                                                           : cudaSuccess;
    set_ended(status == cudaSuccess ? CaptureEnd::well : CaptureEnd::badly);
    if (status == cudaSuccess) return graph;
    lose_own_graph();
    if (cause) {
        static_cast<void>(cudaGetLastError());
        throw *cause;
    }
    Subject what = subject(call);
    if (status == cudaErrorStreamCaptureUnjoined) what.text += ": " + unjoined_forks(unjoined);
    raise_call<CaptureError>(status, "cudaStreamEndCapture", std::move(what));
}

} // namespace cudag::detail
