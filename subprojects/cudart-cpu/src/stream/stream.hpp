// Streams: each runs its operations in order on its own worker thread.
#pragma once

#include "completion.hpp"
#include "stream_attributes.hpp"
#include "work_queue.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace cudart_cpu::detail {

class Capture;

class Stream {
  public:
    Stream(unsigned flags, int priority, int device);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    /// Returns at once; pending work still runs.
    ~Stream();

    [[nodiscard]] unsigned flags() const noexcept { return flags_; }
    [[nodiscard]] int priority() const noexcept { return priority_.load(std::memory_order_relaxed); }
    void set_priority(int priority) noexcept { priority_.store(priority, std::memory_order_relaxed); }
    [[nodiscard]] StreamAttributes& attributes() noexcept { return attributes_; }
    [[nodiscard]] const StreamAttributes& attributes() const noexcept { return attributes_; }
    /// The device current at its creation.
    [[nodiscard]] int device() const noexcept { return device_; }
    /// The driver's context current at its creation; null for a default stream, which each context has.
    [[nodiscard]] CUcontext context() const noexcept { return context_; }
    void set_context(CUcontext context) noexcept { context_ = context; }
    [[nodiscard]] unsigned long long id() const noexcept { return id_; }
    /// Whether it waits for the legacy default stream, and is waited for by it.
    [[nodiscard]] bool blocking() const noexcept { return (flags_ & cudaStreamNonBlocking) == 0; }
    [[nodiscard]] WorkQueue& queue() const noexcept { return *queue_; }
    /// The stream's capture; null if there is none. Guarded by graph_mutex().
    [[nodiscard]] const std::shared_ptr<Capture>& capture() const noexcept { return capture_; }
    void set_capture(std::shared_ptr<Capture> capture) noexcept { capture_ = std::move(capture); }

  private:
    unsigned flags_;
    std::atomic<int> priority_;
    StreamAttributes attributes_;
    int device_;
    CUcontext context_ = nullptr;
    unsigned long long id_;
    std::shared_ptr<WorkQueue> queue_;
    std::shared_ptr<Capture> capture_;
};

/// Sets the function called with each stream before its end: captures, a layer above streams, must not keep it.
void set_stream_end(void (*leave)(Stream&) noexcept) noexcept;

cudaStream_t create_stream(unsigned flags, int priority);
/// Throws cudaErrorInvalidResourceHandle for a dead handle or a default stream.
void destroy_stream(cudaStream_t handle);

/// Destroys all streams made on this device.
void destroy_streams_of(int device);

/// Returns the stream of a handle. nullptr and cudaStreamLegacy name the current device's legacy default stream;
/// cudaStreamPerThread names this thread's stream of that device, as does nullptr within a PerThreadDefault. Throws
/// cudaErrorInvalidResourceHandle for a dead handle.
Stream& stream_of(cudaStream_t handle);
/// During its life, the calls of its thread take the stream nullptr as cudaStreamPerThread: they come from code
/// compiled for per-thread default streams.
class PerThreadDefault {
  public:
    PerThreadDefault() noexcept;
    PerThreadDefault(const PerThreadDefault&) = delete;
    PerThreadDefault& operator=(const PerThreadDefault&) = delete;
    ~PerThreadDefault();

  private:
    bool outer_;
};

/// Whether the stream nullptr is this thread's own.
[[nodiscard]] bool is_null_per_thread() noexcept;

/// Whether it is a device's legacy default stream.
bool is_legacy(const Stream& stream);

/// Runs `op` on the stream's worker after everything enqueued before it, after each of `after`, and, by the rules of
/// the legacy default stream, after that stream's or all blocking streams' work. Never blocks. The result is finished
/// when `op` has returned and its captures are gone.
CompletionPtr enqueue(Stream& stream, std::function<void()> op, std::vector<CompletionPtr> after = {});

/// Whether all work of `stream` has ended; for the legacy default stream, this includes the work of all blocking
/// streams.
bool idle(const Stream& stream);
void wait_for(const Stream& stream);
/// Waits for the work of every stream, even of destroyed ones.
void wait_for_all_devices();
/// Waits for the work of every stream of one device, even of destroyed ones.
void wait_for_device(int device);
/// Returns a function that reports whether any work pending now has not ended yet; null if no work is pending now.
std::function<bool()> pending_everywhere();

} // namespace cudart_cpu::detail
