// Calls that must not wait for the device, and memory that they leave to others to free.
#pragma once

#include "thread_state.hpp"

#include <memory>

namespace cudag::detail {

/// While one exists, its thread frees nothing: cudaFree waits for all launches, and some of them may wait for this
/// thread. Objects that own memory die nevertheless.
class NoWaiting {
  public:
    NoWaiting() noexcept { ++thread_state.no_waiting; }
    ~NoWaiting() { --thread_state.no_waiting; }
    NoWaiting(const NoWaiting&) = delete;
    NoWaiting& operator=(const NoWaiting&) = delete;

    [[nodiscard]] static bool is_in_force() noexcept { return thread_state.no_waiting != 0; }
};

/// The deleter of a shared_ptr whose resource `release` gives back, which may wait for the device: under NoWaiting that
/// is left to the next `release_left_over`.
class WaitingRelease {
  public:
    /// Allocates what the rest needs: make it before the resource.
    explicit WaitingRelease(void (*release)(void*));
    void operator()(void* resource) const noexcept;

    struct Left;

  private:
    std::shared_ptr<Left> left_;
};

[[nodiscard]] bool has_left_over() noexcept;
/// Releases the resources that were left over.
void release_left_over() noexcept;

} // namespace cudag::detail
