// Stream: ownership and synchronisation.
#include <cudag/stream.hpp>

#include "failure.hpp"
#include "host_call.hpp"
#include "reclaim.hpp"

#include <utility>

namespace cudag {

Stream::Stream() {
    detail::checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

Stream::Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
}

Stream::~Stream() {
    if (stream_ != nullptr) detail::ignore(cudaStreamDestroy(stream_));
}

void Stream::synchronize() const {
    detail::checked(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    detail::reclaim();
    detail::rethrow_host_exception();
}

bool Stream::query() const {
    const cudaError_t status = cudaStreamQuery(stream_);
    if (status == cudaErrorNotReady) return false; // never the last error
    detail::checked(status, "cudaStreamQuery");
    return true;
}

void detail::refuse_moved_stream() {
    refuse<Error>("a moved-from Stream was used", {}, cudaErrorInvalidResourceHandle);
}

} // namespace cudag
