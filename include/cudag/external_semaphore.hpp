// External semaphores: synchronisation between CUDA and another API, such as Vulkan.
#pragma once

#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cudag {

/// Owns a semaphore imported from another API.
///
///     const int fd = -1; // from vkGetSemaphoreFdKHR
///     const auto timeline = std::make_shared<cudag::ExternalSemaphore>(cudag::ExternalSemaphore::import_timeline(fd));
///     auto rendered = b.wait({timeline, 1});
///     auto computed = b.kernel(config, step, x, n).after(rendered);
///     b.signal({timeline, 2}).after(computed);
///
/// Move-only; move assignment swaps the two semaphores. A moved-from one may only be assigned to or destroyed. It must
/// outlive every node and launch that uses it; nodes keep a semaphore passed as a shared_ptr. Threads: const calls may
/// run concurrently.
class CUDAG_EXPORT ExternalSemaphore {
  public:
    /// Imports a timeline semaphore, which holds a growing number (VK_SEMAPHORE_TYPE_TIMELINE), from the POSIX file
    /// descriptor `fd`. On success CUDA owns `fd`: do not use or close it afterwards. Throws Error if `fd` is not open
    /// or CUDA cannot import it; then `fd` stays the caller's.
    [[nodiscard]] static ExternalSemaphore import_timeline(int fd);

    /// Imports a binary semaphore (VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT), signalled or not, from `fd`. It
    /// ignores values, and a wait resets it. Ownership of `fd` and errors are those of `import_timeline`.
    [[nodiscard]] static ExternalSemaphore import_opaque(int fd);

    ExternalSemaphore(ExternalSemaphore&& other) noexcept : semaphore_(std::exchange(other.semaphore_, nullptr)) {}
    ExternalSemaphore& operator=(ExternalSemaphore&& other) noexcept {
        std::swap(semaphore_, other.semaphore_);
        return *this;
    }
    ~ExternalSemaphore();

    /// Returns CUDA's handle, borrowed; null if it was moved into a new object.
    [[nodiscard]] cudaExternalSemaphore_t get() const noexcept { return semaphore_; }

  private:
    explicit ExternalSemaphore(cudaExternalSemaphore_t semaphore) noexcept : semaphore_(semaphore) {}

    cudaExternalSemaphore_t semaphore_;
};

/// A reference to a semaphore, for nodes: an ExternalSemaphore or CUDA's handle is borrowed, a shared_ptr is kept.
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

/// A signal operation: sets a timeline semaphore to `value`, which must be greater than its current number. A binary
/// semaphore is signalled, and `value` ignored.
struct SemaphoreSignal {
    SemaphoreRef semaphore;
    std::uint64_t value = 0;
};

/// A wait operation: waits until a timeline semaphore is at least `value`, or a binary semaphore is signalled.
struct SemaphoreWait {
    SemaphoreRef semaphore;
    std::uint64_t value = 0;
};

} // namespace cudag
