// CapturePool: the handle of a PoolState.
#include <cudag/capture_pool.hpp>

#include "pool_state.hpp"

namespace cudag {

CapturePool::CapturePool(std::string_view label, SourceLocation location)
    : state_(std::make_shared<detail::PoolState>(label, location)) {}

std::shared_ptr<void> CapturePool::allocate(std::size_t count, std::size_t size, const SourceLocation& location) {
    return state().allocate(count, size, location);
}

void CapturePool::seal() {
    state().set_sealed(true);
}

void CapturePool::unseal() {
    state().set_sealed(false);
}

bool CapturePool::is_sealed() const {
    return state().is_sealed();
}

std::size_t CapturePool::count() const {
    return state().count();
}

std::size_t CapturePool::bytes() const {
    return state().bytes();
}

std::size_t CapturePool::reserved_bytes() const {
    return state().reserved_bytes();
}

detail::PoolState& CapturePool::state() const {
    if (!state_) detail::refuse<Error>("a moved-from CapturePool was used");
    return *state_;
}

} // namespace cudag
