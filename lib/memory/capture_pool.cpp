// CapturePool: the handle of a PoolState.
#include <cudag/capture_pool.hpp>

#include "cuda/no_waiting.hpp"
#include "pool_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace cudag {

CapturePool::CapturePool(std::string_view label, SourceLocation location)
    : CapturePool(label, CapturePoolOptions{}, location) {}

CapturePool::CapturePool(std::string_view label, CapturePoolOptions options, SourceLocation location)
    : state_([&] {
          const detail::WaitingRelease deleter([](void* pool) { delete static_cast<detail::PoolState*>(pool); });
          return std::shared_ptr<detail::PoolState>(new detail::PoolState(label, options.releasable, location),
                                                    deleter);
      }()) {}

std::shared_ptr<void> CapturePool::allocate(std::size_t count, std::size_t size, const SourceLocation& location) {
    return state().allocate(count, size, location);
}

PoolId CapturePool::id() const {
    return {state().id()};
}

CapturePool CapturePool::find(PoolId id) {
    std::shared_ptr<detail::PoolState> state = detail::PoolState::find(id.value);
    if (!state)
        detail::refuse<Error>(fmt::format(
            "find: there is no CapturePool {}: its last owner is gone, or the number is another process's", id.value));
    return CapturePool(std::move(state));
}

void CapturePool::keep(std::shared_ptr<const void> owner) {
    state().keep(std::move(owner));
}

std::size_t CapturePool::recorded_count() const {
    return state().recorded_count();
}

void CapturePool::clear() {
    state().clear();
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

bool CapturePool::is_releasable() const {
    return state().is_releasable();
}

bool CapturePool::is_released() const {
    return state().is_released();
}

ReleasedMemory CapturePool::release(ReleaseOptions options) {
    return state().release(options);
}

std::size_t CapturePool::restore() {
    return state().restore();
}

PoolFootprint CapturePool::memory() const {
    return state().footprint();
}

detail::PoolState& CapturePool::state() const {
    if (!state_) detail::refuse<Error>("a moved-from CapturePool was used");
    return *state_;
}

} // namespace cudag
