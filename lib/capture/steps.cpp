// Forks and joins of a function, captured or run eagerly.
#include <cudag/steps.hpp>

#include "cuda/failure.hpp"
#include "stream/stream_order.hpp"

namespace cudag {

namespace {

void order_eagerly(cudaStream_t before, cudaStream_t after) {
    const detail::OrderResult ordered = detail::order_streams(before, after);
    detail::checked(ordered.status, ordered.operation);
}

} // namespace

void Steps::fork(StreamRef other, SourceLocation location) {
    if (guide_ != nullptr && !guide_->begin({detail::StepKind::fork, {}, location})) return;
    if (capture_ != nullptr)
        capture_->fork(other, location);
    else
        order_eagerly(stream_, other.get());
}

void Steps::join(StreamRef other, SourceLocation location) {
    if (guide_ != nullptr && !guide_->begin({detail::StepKind::join, {}, location})) return;
    if (capture_ != nullptr)
        capture_->join(other, location);
    else
        order_eagerly(other.get(), stream_);
}

} // namespace cudag
