// The open captures of each thread, and the one that work would bypass.
#include "open_captures.hpp"

#include "failure.hpp"
#include "open_capture_record.hpp"
#include "stream_status.hpp"
#include "thread_state.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

bool is_legacy(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy;
}

bool may_be_recorded(cudaStream_t stream) {
    return !is_legacy(stream) && find_capture_status(stream) != cudaStreamCaptureStatusNone;
}

bool is_thread_relaxed() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    checked(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
    const bool is_relaxed = mode == cudaStreamCaptureModeRelaxed;
    ignore(cudaThreadExchangeStreamCaptureMode(&mode));
    return is_relaxed;
}

std::string step_of(OpenCaptureRecord& record) {
    const std::scoped_lock lock(record.mutex);
    if (record.steps.empty()) return {};
    const OpenCaptureRecord::Step& step = record.steps.back();
    return fmt::format(" in step \"{}\" at {}", without_nul(step.label), step.location);
}

std::string name_of(OpenCaptureRecord& record) {
    return fmt::format("capture at {} ({}) of stream {}{}", record.location, record.mode,
                       static_cast<const void*>(record.stream), step_of(record));
}

/// The capture of this thread that work in `stream` would bypass; null if the work is allowed.
OpenCaptureRecord* passed_capture(cudaStream_t stream) {
    // The list may still contain captures ended by other threads.
    if (thread_state.captures == nullptr) return nullptr;
    auto& records = *thread_state.captures;
    std::erase_if(records, [](const auto& record) { return record->has_ended.load(); });
    if (records.empty()) return nullptr;
    if (std::ranges::any_of(records, [&](const auto& record) { return record->stream == stream; })) return nullptr;
    if (may_be_recorded(stream)) return nullptr;
    const auto running = std::find_if(records.rbegin(), records.rend(), [](const auto& record) {
        // not if it was broken, or ended elsewhere
        return find_capture_status(record->stream) == cudaStreamCaptureStatusActive;
    });
    if (running == records.rend() || is_thread_relaxed()) return nullptr;
    if (is_legacy(stream) && (*running)->allows_legacy_stream) return nullptr;
    return running->get();
}

} // namespace

OpenCapture::OpenCapture(cudaStream_t stream, const SourceLocation& location, const char* mode)
    : record_(std::make_shared<OpenCaptureRecord>(stream, location, mode)) {
    kept_by_thread(thread_state.captures).push_back(record_);
    latest_captured.store(stream, std::memory_order_relaxed);
    open_captures.fetch_add(1, std::memory_order_relaxed);
}

void OpenCapture::end() noexcept {
    if (record_->has_ended.exchange(true)) return;
    open_captures.fetch_sub(1, std::memory_order_relaxed);
    cudaStream_t latest = record_->stream;
    latest_captured.compare_exchange_strong(latest, nullptr, std::memory_order_relaxed);
    if (thread_state.captures != nullptr)
        std::erase(*thread_state.captures, record_); // absent if another thread began it
}

void OpenCapture::begin_step(std::string_view label, const SourceLocation& location) {
    const std::scoped_lock lock(record_->mutex);
    record_->steps.push_back({label, location});
}

void OpenCapture::end_step() noexcept {
    const std::scoped_lock lock(record_->mutex);
    record_->steps.pop_back();
}

std::string OpenCapture::step_text() const {
    return step_of(*record_);
}

std::string OpenCapture::take_refused() {
    const std::scoped_lock lock(record_->mutex);
    return std::exchange(record_->refused, {});
}

void OpenCapture::note_refused(std::string_view what) {
    if (constexpr std::string_view prefix = "cudag: "; what.starts_with(prefix)) what.remove_prefix(prefix.size());
    const std::scoped_lock lock(record_->mutex);
    record_->refused = what;
}

void OpenCapture::allow_legacy_stream() noexcept {
    record_->allows_legacy_stream = true;
}

void require_recorded_now(cudaStream_t stream, const std::function<Subject()>& subject) {
    OpenCaptureRecord* const capture = passed_capture(stream);
    if (capture == nullptr) return;
    const std::string name =
        is_legacy(stream) ? "the legacy default stream" : fmt::format("stream {}", static_cast<const void*>(stream));
    Subject what = subject();
    const std::string reason = fmt::format(
        "{} is not part of the {}, which this thread has under way: the work would run once, now, and be missing in "
        "every replay; give it the captured stream, fork the other one from that (StreamCapture::fork), or, if it is "
        "to run now, allow it with ThreadCaptureMode(CaptureMode::relaxed)",
        name, name_of(*capture));
    {
        const std::scoped_lock lock(capture->mutex);
        capture->refused = what.text + ": " + reason;
    }
    refuse<CaptureError>(reason, std::move(what), cudaErrorStreamCaptureUnsupported);
}

} // namespace cudag::detail
