// External semaphores, made by cudaImportExternalSemaphore from file descriptors.
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace cudart_cpu::detail {

/// The state shared by all imports of one file. It is invisible outside of this process: the file gives only the
/// identity.
class SemaphoreState {
  public:
    void set(std::uint64_t value);
    void wait_for(std::uint64_t value);
    /// Waits until the value is not 0, and makes it 0.
    void take();
    std::uint64_t value() const;

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t value_ = 0;
};

class ExternalSemaphore {
  public:
    /// Takes over `fd`, a valid descriptor, and closes it at the end.
    ExternalSemaphore(int fd, bool is_timeline);
    ExternalSemaphore(const ExternalSemaphore&) = delete;
    ExternalSemaphore& operator=(const ExternalSemaphore&) = delete;
    ~ExternalSemaphore();

    /// Only timelines use the value.
    void signal(std::uint64_t value) { state_->set(is_timeline_ ? value : 1); }
    void wait(std::uint64_t value) { is_timeline_ ? state_->wait_for(value) : state_->take(); }
    std::uint64_t value() const { return state_->value(); }

  private:
    int fd_;
    bool is_timeline_;
    std::shared_ptr<SemaphoreState> state_;
};

/// Takes over `fd`, a valid descriptor.
cudaExternalSemaphore_t add_external_semaphore(int fd, bool is_timeline);

/// These throw Failure for a dead or null handle.
void destroy_external_semaphore(cudaExternalSemaphore_t handle);
std::shared_ptr<ExternalSemaphore> external_semaphore_of(cudaExternalSemaphore_t handle);

} // namespace cudart_cpu::detail
