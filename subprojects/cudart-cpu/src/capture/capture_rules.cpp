// Calls forbidden during captures. Each refused call invalidates the captures that it would have broken.
#include "capture_rules.hpp"

#include "capture.hpp"
#include "stream/event.hpp"

#include <algorithm>
#include <utility>

namespace cudart_cpu::detail {

namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

/// Whether the modes of the thread and the capture forbid such calls, see cudaThreadExchangeStreamCaptureMode.
bool forbids_unsafe_calls(const Capture& capture) {
    if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
    if (capture.is_of_this_thread()) return capture.mode() != cudaStreamCaptureModeRelaxed;
    return thread_mode == cudaStreamCaptureModeGlobal && capture.mode() == cudaStreamCaptureModeGlobal;
}

/// Invalidates the captures accepted by `choose`; returns whether there are any.
template <class Choose>
bool invalidate(Choose&& choose) {
    bool any = false;
    for (const auto& capture : captures())
        if (choose(*capture)) {
            capture->invalidate();
            any = true;
        }
    return any;
}

template <class Choose>
bool has_member(const Capture& capture, Choose&& choose) {
    return std::ranges::any_of(capture.members(), [&](const auto& member) { return choose(*member.first); });
}

/// Whether a legacy default stream waits for a stream of the capture.
bool makes_wait(const Capture& capture, const Stream& legacy) {
    return has_member(capture,
                      [&](const Stream& member) { return member.blocking() && member.device() == legacy.device(); });
}

void refuse_record(const Event& event, bool invalidates) {
    const std::shared_ptr<const CapturedRecord> record = event.captured();
    if (!record) return;
    const std::shared_ptr<Capture> capture = active_capture_of(*record);
    if (!capture) fail_over_event();
    if (invalidates) capture->invalidate();
    fail(cudaErrorCapturedEvent, "Recorded event not allowed on stream");
}

} // namespace

void require_no_implicit_dependency(const Stream& stream) {
    if (!is_legacy(stream)) return;
    if (std::ranges::any_of(captures(), [&](const auto& capture) { return makes_wait(*capture, stream); }))
        fail(cudaErrorStreamCaptureImplicit, "Call cannot be made against CU_STREAM_LEGACY while a blocking stream in "
                                             "the same context is capturing");
}

void refuse_implicit_dependency(const Stream& stream) {
    try {
        require_no_implicit_dependency(stream);
    } catch (const Failure&) {
        invalidate([&](const Capture& capture) { return makes_wait(capture, stream); });
        throw;
    }
}

void invalidate_capture_of(const Stream& stream) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    if (const auto& capture = stream.capture()) capture->invalidate();
}

void refuse_capturing(const Stream& stream) {
    refuse_implicit_dependency(stream);
    if (const auto& capture = stream.capture()) {
        capture->invalidate();
        fail(cudaErrorStreamCaptureUnsupported, {});
    }
}

void refuse_unsafe_call_under_lock() {
    const bool is_own = std::ranges::any_of(
        captures(), [](const auto& capture) { return capture->is_of_this_thread() && forbids_unsafe_calls(*capture); });
    if (invalidate(forbids_unsafe_calls))
        fail(cudaErrorStreamCaptureUnsupported,
             text("API call conflicts with a stream capture sequence initiated from ",
                  is_own ? "the calling thread" : "another thread"));
}

void refuse_implicit_dependency_now(const Stream& stream) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    refuse_implicit_dependency(stream);
}

void refuse_capturing_now(const Stream& stream) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    refuse_capturing(stream);
}

void require_not_capturing_now(const Stream& stream) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    if (stream.capture()) fail(cudaErrorStreamCaptureUnsupported, {});
}

void refuse_unsafe_call() {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    refuse_unsafe_call_under_lock();
}

void refuse_query(const Stream& stream) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    refuse_capturing(stream);
    refuse_unsafe_call_under_lock();
}

void refuse_query(const Event& event) {
    const std::lock_guard lock(graph_mutex());
    refuse_record(event, true);
    refuse_unsafe_call_under_lock();
}

void refuse_time_query(const Event& event) {
    const std::lock_guard lock(graph_mutex());
    refuse_record(event, false);
}

void refuse_device_query(int device) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    const auto on_device = [&](const Stream& member) { return member.device() == device; };
    if (invalidate([&](const Capture& capture) { return has_member(capture, on_device); }))
        fail(cudaErrorStreamCaptureUnsupported, {});
}

void fail_over_event() {
    fail(cudaErrorInvalidValue, "Event is not valid. This can be related to a graph capture that is no longer running");
}

cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) noexcept {
    return std::exchange(thread_mode, mode);
}

} // namespace cudart_cpu::detail
