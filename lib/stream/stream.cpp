// Stream: ownership and synchronisation.
#include <cudag/stream.hpp>

#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "owners/host_call.hpp"
#include "owners/reclaim.hpp"
#include "owners/stream_clock.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace cudag {

namespace {

detail::Subject stream_subject(const char* call, const SourceLocation& where) {
    return {fmt::format("Stream::{} at {}", call, where), {}, where};
}

} // namespace

Stream::Stream() {
    detail::checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    detail::UniqueStream stream(stream_);
    detail::StreamClock::open(stream_);
    static_cast<void>(stream.release());
}

Stream::Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
    Stream last(std::move(*this)); // destroys the former stream; on self-assignment, returns it
    stream_ = std::exchange(&other == this ? last.stream_ : other.stream_, nullptr);
    return *this;
}

Stream::~Stream() {
    if (stream_ == nullptr) return;
    detail::stream_gone(stream_);
    detail::StreamClock::close(stream_);
    detail::report_release(cudaStreamDestroy(stream_), "cudaStreamDestroy");
}

void Stream::synchronize(SourceLocation location) const {
    const cudaStream_t stream = StreamRef(*this).get();
    const auto clock = detail::StreamClock::of(stream);
    const std::uint64_t launches = clock ? clock->now() : 0;
    if (const cudaError_t status = cudaStreamSynchronize(stream); status != cudaSuccess)
        detail::raise_call<Error>(status, "cudaStreamSynchronize", stream_subject("synchronize", location));
    if (clock) clock->reach(launches);
    detail::reclaim();
    detail::rethrow_host_failures(stream);
}

bool Stream::query(SourceLocation location) const {
    const cudaError_t status = cudaStreamQuery(StreamRef(*this).get());
    if (status == cudaErrorNotReady) return false; // never becomes the last error
    if (status != cudaSuccess) detail::raise_call<Error>(status, "cudaStreamQuery", stream_subject("query", location));
    return true;
}

void detail::refuse_moved_stream() {
    refuse<Error>("a moved-from Stream was used", {}, cudaErrorInvalidResourceHandle);
}

} // namespace cudag
