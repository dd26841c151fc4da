// Forks and joins of a function that is captured, or runs eagerly.
#include <cudag/steps.hpp>

#include "cuda/failure.hpp"

#include <cudag/event.hpp>

namespace cudag {

namespace {

void order(cudaStream_t before, cudaStream_t after) {
    Event event({.timing = false});
    event.record(before);
    detail::checked(cudaStreamWaitEvent(after, event.get(), cudaEventWaitDefault), "cudaStreamWaitEvent");
}

} // namespace

void Steps::fork(StreamRef other, SourceLocation location) {
    if (capture_ != nullptr)
        capture_->fork(other, location);
    else
        order(stream_, other.get());
}

void Steps::join(StreamRef other, SourceLocation location) {
    if (capture_ != nullptr)
        capture_->join(other, location);
    else
        order(other.get(), stream_);
}

} // namespace cudag
