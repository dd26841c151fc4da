// What captures in progress forbid: each refused call invalidates the captures that it would have broken.
#include "capture_rules.hpp"

#include "capture.hpp"
#include "event.hpp"

#include <algorithm>
#include <utility>

namespace cudart_cpu::detail {

namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

/// By the modes of both, as cudaThreadExchangeStreamCaptureMode describes it.
bool forbids_unsafe_calls(const Capture& capture) {
    if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
    if (capture.is_of_this_thread()) return capture.mode() != cudaStreamCaptureModeRelaxed;
    return thread_mode == cudaStreamCaptureModeGlobal && capture.mode() == cudaStreamCaptureModeGlobal;
}

/// Invalidates the captures that `choose` takes; whether there are any.
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

/// Whether a legacy default stream waits for one of the capture's streams.
bool makes_wait(const Capture& capture, const Stream& legacy) {
    return has_member(capture,
                      [&](const Stream& member) { return member.blocking() && member.device() == legacy.device(); });
}

void refuse_unsafe_call_under_lock() {
    if (invalidate(forbids_unsafe_calls))
        fail(cudaErrorStreamCaptureUnsupported, "the call is not permitted while a stream is capturing");
}

} // namespace

void require_no_implicit_dependency(const Stream& stream) {
    if (!is_legacy(stream)) return;
    if (std::ranges::any_of(captures(), [&](const auto& capture) { return makes_wait(*capture, stream); }))
        fail(cudaErrorStreamCaptureImplicit,
             "the legacy default stream would depend on a blocking stream that is capturing");
}

void refuse_implicit_dependency(const Stream& stream) {
    try {
        require_no_implicit_dependency(stream);
    } catch (const Failure&) {
        invalidate([&](const Capture& capture) { return makes_wait(capture, stream); });
        throw;
    }
}

void refuse_synchronous_call(const Stream& stream) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    refuse_implicit_dependency(stream);
    refuse_unsafe_call_under_lock();
}

void refuse_unsafe_call() {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    refuse_unsafe_call_under_lock();
}

void refuse_query(const Stream& stream) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    refuse_implicit_dependency(stream);
    if (const auto& capture = stream.capture()) {
        capture->invalidate();
        fail(cudaErrorStreamCaptureUnsupported, "the stream is capturing");
    }
    refuse_unsafe_call_under_lock();
}

void refuse_query(const Event& event) {
    const std::shared_ptr<const CapturedRecord> record = event.captured();
    if (!record && !is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    if (record) {
        if (const auto capture = record->capture.lock()) capture->invalidate();
        fail(cudaErrorCapturedEvent, "the event was last recorded in a capture");
    }
    refuse_unsafe_call_under_lock();
}

void refuse_device_query(int device) {
    if (!is_any_capture()) return;
    const std::lock_guard lock(graph_mutex());
    const auto on_device = [&](const Stream& member) { return member.device() == device; };
    if (invalidate([&](const Capture& capture) { return has_member(capture, on_device); }))
        fail(cudaErrorStreamCaptureUnsupported, "a stream of the device is capturing");
    refuse_unsafe_call_under_lock();
}

cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) noexcept {
    return std::exchange(thread_mode, mode);
}

} // namespace cudart_cpu::detail
