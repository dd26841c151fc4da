// Stream: ownership and synchronisation.
#include <cudag/stream.hpp>

#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/unfinished.hpp"
#include "green/green_context_state.hpp"
#include "owners/host_call.hpp"
#include "owners/reclaim.hpp"
#include "owners/stream_clock.hpp"

#include <cudag/format.hpp>
#include <cudag/green_context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cudag {

namespace {

detail::Subject stream_subject(const char* call, const SourceLocation& where) {
    return {fmt::format("Stream::{} at {}", call, where), {}, where};
}

[[noreturn]] void raise_deadline(double seconds, const SourceLocation& where) {
    std::optional<std::vector<UnfinishedNode>> listed = detail::list_unfinished();
    const auto nodes = std::make_shared<const std::vector<UnfinishedNode>>(listed ? std::move(*listed)
                                                                                  : std::vector<UnfinishedNode>());
    ErrorDetails details{"cudaStreamQuery", {}, {}, where};
    std::string text = fmt::format("cudag: Stream::synchronize at {}: the work has not finished within {} s", where,
                                   std::max(seconds, 0.0));
    if (listed)
        text += detail::describe_unfinished(*nodes, details.labels);
    else
        text += "; to learn which nodes it waits for, instantiate with .recorder = true, or set CUDAG_CHECK=recorder";
    throw DeadlineError(detail::Passkey(), text, std::move(details), nodes);
}

} // namespace

Stream::Stream() {
    detail::checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    detail::UniqueStream stream(stream_);
    detail::StreamClock::open(stream_);
    static_cast<void>(stream.release());
}

Stream::Stream(const GreenContext& context, int priority) {
    if (!context.state_)
        detail::refuse<Error>("Stream: the green context was moved from; give the one that it was moved to, or a copy");
    stream_ = detail::create_stream(*context.state_, priority);
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

void Stream::synchronize_within(double seconds, const SourceLocation& location) const {
    using std::chrono::steady_clock, std::chrono::duration;
    constexpr double longest = 1e9; // in seconds: what a clock can add
    constexpr duration<double> first_pause(2e-6), last_pause(5e-4);
    const cudaStream_t stream = StreamRef(*this).get();
    const auto time = duration<double>(seconds >= 0 ? std::min(seconds, longest) : 0);
    const auto end = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(time);
    for (duration<double> pause = first_pause;; pause = std::min(2 * pause, last_pause)) {
        const cudaError_t status = cudaStreamQuery(stream);
        if (status == cudaSuccess) return synchronize(location);
        if (status != cudaErrorNotReady) // which never becomes the last error
            detail::raise_call<Error>(status, "cudaStreamQuery", stream_subject("synchronize", location));
        const duration<double> left = end - steady_clock::now();
        if (left.count() <= 0) raise_deadline(seconds, location);
        std::this_thread::sleep_for(std::min(pause, left));
    }
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
