// Stream, an owner of a CUDA stream, and StreamRef, the reference taken by every cudag call.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>

namespace cudag {

class Event;
class GreenContext;

/// Owns a non-blocking CUDA stream of the current device, or of a green context.
///
///     cudag::Stream copies;
///     cudag::memcpy_async(copies, y, x);
///     copies.synchronize();
///
/// Move-only; a moved-from Stream may only be assigned to or destroyed: other calls throw Error. The destructor does
/// not wait: work in flight finishes. Threads: all calls may run concurrently, except moves and assignment.
class CUDAG_EXPORT Stream {
  public:
    /// Creates a stream. Throws Error if CUDA cannot (no driver, no device, out of memory).
    Stream();
    /// Creates a stream whose work runs on the multiprocessors of `context` only. Lower numbers are higher priorities.
    /// The stream does not keep `context` alive: destroy the stream before the last owner of the context. Throws Error
    /// as above, and if the driver is older than CUDA 12.5.
    explicit Stream(const GreenContext& context, int priority = 0);
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&& other) noexcept;
    Stream(const Stream&) = delete;            // cudag: a Stream has one owner: std::move(stream), or pass a StreamRef
    Stream& operator=(const Stream&) = delete; // cudag: a Stream has one owner: std::move(stream), or pass a StreamRef
    ~Stream();

    /// Returns CUDA's handle, borrowed; null if moved-from.
    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

    /// Blocks until all work enqueued so far has finished. Throws Error if any of it failed, and HostError after
    /// exceptions of host nodes launched in this stream: see HostError. Throws CaptureError if the stream is being
    /// captured, or a capture forbids this thread to wait; that capture is then broken, as by CUDA's own call.
    void synchronize(SourceLocation location = SourceLocation::current()) const;

    /// Blocks as `synchronize()` does, but at most for `timeout`, any std::chrono::duration.
    ///
    ///     try {
    ///         stream.synchronize(std::chrono::seconds(10));
    ///     } catch (const cudag::DeadlineError& late) {
    ///         std::puts(late.what()); // also late.nodes()
    ///     }
    ///
    /// Throws DeadlineError if the work has not finished by then; nothing is cancelled, and the stream stays usable.
    /// With `InstantiateOptions::recorder`, the error lists the nodes that have begun and not ended. Asks CUDA again
    /// and again, at growing intervals up to half a millisecond. Throws as `synchronize()` does otherwise.
    template <class Duration>
    requires requires(const Duration& timeout) {
        timeout.count();
        Duration::period::num;
    }
    void synchronize(const Duration& timeout, SourceLocation location = SourceLocation::current()) const {
        synchronize_within(static_cast<double>(timeout.count()) * static_cast<double>(Duration::period::num) /
                               static_cast<double>(Duration::period::den),
                           location);
    }

    /// Returns true if all work enqueued so far has finished. Does not block, and reports no host failures. Throws
    /// Error if any of the work failed, and CaptureError as `synchronize` does.
    [[nodiscard]] bool query(SourceLocation location = SourceLocation::current()) const;

    /// Orders all later work of this stream after the work that `event` marks now; without a mark, after nothing. Does
    /// not block.
    ///
    ///     cudag::Stream downloads;
    ///     cudag::Event computed;
    ///     exec.launch(stream);
    ///     computed.record(stream);
    ///     downloads.wait(computed);
    ///     cudag::memcpy_async(downloads, host, x);
    ///
    /// A wait for a mark in a captured stream captures this stream, too. Throws Error if the event was moved from, or
    /// if CUDA refuses.
    void wait(const Event& event, // cudag: wait(event) takes a cudag::Event; a stream waits for itself: synchronize()
              SourceLocation location = SourceLocation::current());

  private:
    void synchronize_within(double seconds, const SourceLocation& location) const;

    cudaStream_t stream_ = nullptr;
};

class StreamRef;

namespace detail {

[[noreturn]] CUDAG_EXPORT void refuse_moved_stream();

/// An argument given by mistake: the literals 0 and nullptr, pointers to streams, graphs, ...
template <class Given>
concept NoStream = !std::same_as<Given, StreamRef> && !std::derived_from<Given, Stream> &&
                   (!std::convertible_to<const Given&, cudaStream_t> || std::same_as<Given, std::nullptr_t>);

} // namespace detail

/// A borrowed stream: a Stream, or any `cudaStream_t`. It must outlive the call it is passed to.
///
///     const cudag::StreamRef mine = stream, foreign = cudaStreamPerThread;
///     cudag::clear_async(mine, x);
///     exec.launch(foreign);
///
/// A null `cudaStream_t` variable means CUDA's legacy default stream; the literals 0 and nullptr do not compile.
class StreamRef {
  public:
    /// Refers to `stream`, any CUDA stream.
    StreamRef(cudaStream_t stream) noexcept : stream_(stream) {}
    /// Refers to `stream`. Throws Error if it was moved from: it would silently become the legacy default stream.
    StreamRef(const Stream& stream) : stream_(stream.get()) {
        if (stream_ == nullptr) [[unlikely]]
            detail::refuse_moved_stream();
    }
    template <detail::NoStream Given>
    StreamRef(const Given&) = delete; // cudag: a stream is a cudag::Stream or a cudaStream_t

    /// Returns CUDA's handle; null for the legacy default stream.
    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

  private:
    cudaStream_t stream_;
};

} // namespace cudag
