// Pools of stream-ordered memory: attributes and accounts. Each allocation has its own memory all the same.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace cudart_cpu::detail {

class MemoryPool {
  public:
    MemoryPool(int device, std::size_t max_bytes) : device_(device), max_bytes_(max_bytes) {}
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;

    [[nodiscard]] int device() const noexcept { return device_; }

    /// Accounts for an allocation. Throws cudaErrorMemoryAllocation beyond the pool's size.
    void take(std::size_t bytes);
    /// Account for a free: `free` at the call, `release` when the memory is no longer in use.
    void free(std::size_t bytes) noexcept;
    void release() noexcept;

    /// These throw Failure for attributes that cannot be read or set.
    void get(cudaMemPoolAttr attribute, void* value) const;
    void set(cudaMemPoolAttr attribute, const void* value);

    void trim_to(std::size_t bytes) noexcept;

    /// Returns the access of `device` to the pool's memory.
    [[nodiscard]] cudaMemAccessFlags access(int device) const;
    void set_access(int device, cudaMemAccessFlags flags);

  private:
    /// The backing memory needed for the used bytes.
    [[nodiscard]] std::uint64_t needed() const noexcept;
    void keep(std::uint64_t bytes) noexcept;
    std::uint64_t& high_mark(cudaMemPoolAttr attribute);

    const int device_;
    const std::size_t max_bytes_; // 0: the device's memory
    mutable std::mutex mutex_;
    std::map<int, int> switches_{{cudaMemPoolReuseFollowEventDependencies, 1},
                                 {cudaMemPoolReuseAllowOpportunistic, 1},
                                 {cudaMemPoolReuseAllowInternalDependencies, 1}};
    std::map<int, cudaMemAccessFlags> peers_;
    std::uint64_t threshold_ = 0;
    std::uint64_t used_ = 0;
    std::uint64_t used_high_ = 0;
    std::uint64_t reserved_ = 0;
    std::uint64_t reserved_high_ = 0;
};

} // namespace cudart_cpu::detail
