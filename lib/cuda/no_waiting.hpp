// Calls that must not wait for the device, and the deferred release of memory.
#pragma once

#include "thread_state.hpp"

#include <memory>

namespace cudag::detail {

/// A scope in which this thread frees no memory: cudaFree waits for all launches, and some of them may wait for this
/// thread. Objects that own memory are destroyed nevertheless.
class NoWaiting {
  public:
    NoWaiting() noexcept { ++thread_state.no_waiting; }
    ~NoWaiting() { --thread_state.no_waiting; }
    NoWaiting(const NoWaiting&) = delete;
    NoWaiting& operator=(const NoWaiting&) = delete;

    [[nodiscard]] static bool is_in_force() noexcept { return thread_state.no_waiting != 0; }
};

/// The deleter of a shared_ptr to a resource whose `release` may wait for the device. Under NoWaiting it leaves the
/// release to the next `release_left_over`.
class WaitingRelease {
  public:
    /// Allocates its record: construct it before the resource.
    explicit WaitingRelease(void (*release)(void*));
    void operator()(void* resource) const noexcept;

    struct Left;

  private:
    std::shared_ptr<Left> left_;
};

[[nodiscard]] bool has_left_over() noexcept;
/// Releases the resources left over.
void release_left_over() noexcept;

} // namespace cudag::detail
