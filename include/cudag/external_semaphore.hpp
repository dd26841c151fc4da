// External semaphores: what another API, such as Vulkan, and CUDA wait for each other by.
#pragma once

#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cudag {

/// An imported semaphore. Move-only; a moved-from one may only be assigned to or destroyed. Must outlive every node and
/// launch that uses it, unless they have it by a shared_ptr, which is kept. Threads: const calls may run at once.
class CUDAG_EXPORT ExternalSemaphore {
  public:
    /// Imports a semaphore that holds a growing number (VK_SEMAPHORE_TYPE_TIMELINE), exported as a POSIX file
    /// descriptor. If that succeeds CUDA owns `fd`, which must not be used or closed any more.
    /// Throws Error, and `fd` stays the caller's, if it is not open or CUDA cannot import it.
    [[nodiscard]] static ExternalSemaphore import_timeline(int fd);

    /// The same for a semaphore that is signalled or not (VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT); values mean
    /// nothing to it, and a wait takes the signal away.
    [[nodiscard]] static ExternalSemaphore import_opaque(int fd);

    ExternalSemaphore(ExternalSemaphore&& other) noexcept : semaphore_(std::exchange(other.semaphore_, nullptr)) {}
    ExternalSemaphore& operator=(ExternalSemaphore&& other) noexcept {
        std::swap(semaphore_, other.semaphore_);
        return *this;
    }
    ~ExternalSemaphore();

    [[nodiscard]] cudaExternalSemaphore_t get() const noexcept { return semaphore_; }

  private:
    explicit ExternalSemaphore(cudaExternalSemaphore_t semaphore) noexcept : semaphore_(semaphore) {}

    cudaExternalSemaphore_t semaphore_;
};

/// A semaphore as nodes take it: borrowed from an ExternalSemaphore or as CUDA's handle, or kept by a shared_ptr.
class SemaphoreRef {
  public:
    SemaphoreRef(cudaExternalSemaphore_t semaphore) noexcept : semaphore_(semaphore) {}
    SemaphoreRef(const ExternalSemaphore& semaphore) noexcept : semaphore_(semaphore.get()) {}
    SemaphoreRef(std::shared_ptr<const ExternalSemaphore> semaphore) noexcept
        : semaphore_(semaphore ? semaphore->get() : nullptr), owner_(std::move(semaphore)) {}
    SemaphoreRef(std::shared_ptr<ExternalSemaphore> semaphore) noexcept
        : SemaphoreRef(std::shared_ptr<const ExternalSemaphore>(std::move(semaphore))) {}
    SemaphoreRef(ExternalSemaphore&&) = delete; // cudag: it would be gone when the graph runs: keep it, or a shared_ptr
    SemaphoreRef(std::nullptr_t) = delete;      // cudag: a semaphore is an ExternalSemaphore, or a shared_ptr to one

    [[nodiscard]] cudaExternalSemaphore_t get() const noexcept { return semaphore_; }
    [[nodiscard]] const std::shared_ptr<const ExternalSemaphore>& owner() const noexcept { return owner_; }

  private:
    cudaExternalSemaphore_t semaphore_;
    std::shared_ptr<const ExternalSemaphore> owner_ = nullptr;
};

/// Sets a timeline to `value`, which must be greater than what it is; signals another semaphore, whatever `value` is.
struct SemaphoreSignal {
    SemaphoreRef semaphore;
    std::uint64_t value = 0;
};

/// Waits until a timeline is at least `value`, or another semaphore is signalled.
struct SemaphoreWait {
    SemaphoreRef semaphore;
    std::uint64_t value = 0;
};

} // namespace cudag
