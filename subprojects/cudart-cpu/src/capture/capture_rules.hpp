// What captures in progress forbid: each refused call invalidates the captures that it would have broken.
#pragma once

#include "stream/stream.hpp"

namespace cudart_cpu::detail {

class Event;

/// Throws cudaErrorStreamCaptureImplicit for a legacy default stream while a blocking stream of its device captures.
/// graph_mutex() must be held.
void refuse_implicit_dependency(const Stream& stream);
/// The same for a question that invalidates nothing.
void require_no_implicit_dependency(const Stream& stream);

/// Throws cudaErrorStreamCaptureUnsupported for a stream that captures: an operation that no capture takes.
/// graph_mutex() must be held.
void refuse_capturing(const Stream& stream);

/// For a call that no capture sees, as cudaMalloc: throws cudaErrorStreamCaptureUnsupported if the thread's mode and
/// the captures' modes forbid it. graph_mutex() must be held.
void refuse_unsafe_call_under_lock();

// These take the lock.

void refuse_implicit_dependency_now(const Stream& stream);
/// If the stream is in one.
void invalidate_capture_of(const Stream& stream);
void refuse_capturing_now(const Stream& stream);
/// As refuse_capturing, for a call that leaves the capture as it is.
void require_not_capturing_now(const Stream& stream);
void refuse_unsafe_call();

/// For a call that looks at, or waits for, what the stream does: that of a capturing stream is not done yet.
void refuse_query(const Stream& stream);
/// The same for an event.
void refuse_query(const Event& event);
/// The same for the time between two events, which is refused without breaking the capture.
void refuse_time_query(const Event& event);
/// The same for all streams of a device.
void refuse_device_query(int device);

/// The event was recorded in a capture that is over, or invalid.
[[noreturn]] void fail_over_event();

/// Of this thread; returns the one before. See cudaThreadExchangeStreamCaptureMode.
cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) noexcept;

} // namespace cudart_cpu::detail
