// Streams: an owner, and the reference that every cudag call takes.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>

namespace cudag {

/// An owned, non-blocking CUDA stream of the current device. Move-only; a moved-from Stream may only be assigned to or
/// destroyed: other calls throw Error. Destroying it does not wait: work in flight finishes. Threads: all calls but
/// moves and assignment may run at once.
class CUDAG_EXPORT Stream {
  public:
    /// Throws Error if CUDA cannot make a stream (no driver, no device, out of memory).
    Stream();
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&& other) noexcept;
    Stream(const Stream&) = delete;            // cudag: a Stream has one owner: std::move(stream), or pass a StreamRef
    Stream& operator=(const Stream&) = delete; // cudag: a Stream has one owner: std::move(stream), or pass a StreamRef
    ~Stream();

    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

    /// Blocks until everything enqueued so far has finished. Throws Error if any of it failed, and HostError if host
    /// nodes threw in launches in this stream: see HostError. Throws CaptureError if the stream is being captured, or a
    /// capture forbids this thread to wait; that capture is broken then, as by CUDA's own call.
    void synchronize(SourceLocation location = SourceLocation::current()) const;

    /// True if everything enqueued so far has finished. Does not block. Throws CaptureError as `synchronize` does.
    [[nodiscard]] bool query(SourceLocation location = SourceLocation::current()) const;

  private:
    cudaStream_t stream_ = nullptr;
};

class StreamRef;

namespace detail {

[[noreturn]] CUDAG_EXPORT void refuse_moved_stream();

/// What is given by mistake: the literals 0 and nullptr, pointers to streams, graphs, ...
template <class Given>
concept NoStream = !std::same_as<Given, StreamRef> && !std::derived_from<Given, Stream> &&
                   (!std::convertible_to<const Given&, cudaStream_t> || std::same_as<Given, std::nullptr_t>);

} // namespace detail

/// A borrowed stream: a Stream or any `cudaStream_t`, which must outlive the call that takes it.
/// A null `cudaStream_t` variable means CUDA's legacy default stream; the literals 0 and nullptr do not compile.
class StreamRef {
  public:
    StreamRef(cudaStream_t stream) noexcept : stream_(stream) {}
    /// Throws Error if `stream` was moved from: it would silently become the legacy default stream.
    StreamRef(const Stream& stream) : stream_(stream.get()) {
        if (stream_ == nullptr) [[unlikely]]
            detail::refuse_moved_stream();
    }
    template <detail::NoStream Given>
    StreamRef(const Given&) = delete; // cudag: a stream is a cudag::Stream or a cudaStream_t

    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

  private:
    cudaStream_t stream_;
};

} // namespace cudag
