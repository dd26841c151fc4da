// Events: points in a stream's work.
#pragma once

#include "completion.hpp"
#include "runtime/device_model.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>

namespace cudart_cpu::detail {

struct CapturedRecord;

class Event {
  public:
    explicit Event(unsigned flags) : flags_(flags) {}

    /// The device current at its creation.
    [[nodiscard]] int device() const noexcept { return device_; }
    [[nodiscard]] bool timed() const noexcept { return (flags_ & cudaEventDisableTiming) == 0; }
    /// The completion captured by the last record; null before the first.
    [[nodiscard]] CompletionPtr recorded() const;
    void set_recorded(CompletionPtr completion);
    /// The last record if it was in a capture; else null.
    [[nodiscard]] std::shared_ptr<const CapturedRecord> captured() const;
    void set_captured(std::shared_ptr<const CapturedRecord> record);

  private:
    unsigned flags_;
    int device_ = current_device();
    mutable std::mutex mutex_;
    CompletionPtr recorded_;
    std::shared_ptr<const CapturedRecord> captured_;
};

cudaEvent_t create_event(unsigned flags);

/// These throw cudaErrorInvalidResourceHandle for a dead or null handle.
void destroy_event(cudaEvent_t handle);
Event& event_of(cudaEvent_t handle);
/// Returns the event for users that outlive its handle.
std::shared_ptr<Event> shared_event_of(cudaEvent_t handle);

/// Destroys all events made on this device.
void destroy_events_of(int device);

} // namespace cudart_cpu::detail
