// Calls forbidden during captures. Each refused call invalidates the captures that it would have broken.
#pragma once

#include "stream/stream.hpp"

namespace cudart_cpu::detail {

class Event;

/// Throws cudaErrorStreamCaptureImplicit for a legacy default stream while a blocking stream of its device captures.
/// graph_mutex() must be held.
void refuse_implicit_dependency(const Stream& stream);
/// Throws like refuse_implicit_dependency, but invalidates no capture: for pure queries.
void require_no_implicit_dependency(const Stream& stream);

/// Refuses an operation that cannot be captured: throws cudaErrorStreamCaptureUnsupported if the stream captures.
/// graph_mutex() must be held.
void refuse_capturing(const Stream& stream);

/// Refuses a call invisible to captures, such as cudaMalloc: throws cudaErrorStreamCaptureUnsupported if the modes of
/// the thread and of the captures forbid it. graph_mutex() must be held.
void refuse_unsafe_call_under_lock();

// These functions take the lock.

void refuse_implicit_dependency_now(const Stream& stream);
/// Invalidates the capture of the stream, if any.
void invalidate_capture_of(const Stream& stream);
void refuse_capturing_now(const Stream& stream);
/// Throws cudaErrorStreamCaptureUnsupported if the stream captures, but leaves the capture valid.
void require_not_capturing_now(const Stream& stream);
void refuse_unsafe_call();

/// Refuses a query of a stream, or a wait for it, while it captures: its work is not done yet.
void refuse_query(const Stream& stream);
/// Refuses a query of an event, or a wait for it, if the event was recorded in a capture.
void refuse_query(const Event& event);
/// Refuses the time between two events if `event` was recorded in a capture, but leaves the capture valid.
void refuse_time_query(const Event& event);
/// Refuses a query of a device, or a wait for it, while one of its streams captures.
void refuse_device_query(int device);

/// Fails for an event recorded in a capture that has ended or is invalid.
[[noreturn]] void fail_over_event();

/// Sets the mode of this thread and returns the one before. See cudaThreadExchangeStreamCaptureMode.
cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) noexcept;

} // namespace cudart_cpu::detail
