// Kernels launched by a kernel (dynamic parallelism): they run when the kernel's grid has ended.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace cudart_cpu::detail {

/// A launch whose parameters the launching thread writes.
struct ChildLaunch {
    const ptx::ModuleRow* module;
    const ptx::KernelRow* kernel;
    dim3 grid;
    dim3 block;
    unsigned shared_bytes;
    std::unique_ptr<std::byte[]> params;
};

/// The launches of one grid. Thread-safe.
class ChildLaunches {
  public:
    /// Returns the memory for the parameters; null if the kernel cannot be launched like this.
    void* prepare(const void* kernel, dim3 grid, dim3 block, unsigned shared_bytes);
    /// Launches what has its parameters at `params`; at the end of all other launches if `is_tail`. Returns false if
    /// there is no such launch.
    bool launch(void* params, bool is_tail);
    /// The bytes of a kernel's parameters.
    static std::size_t params_bytes(const ptx::KernelRow& kernel);
    /// The kernel to be launched with the parameters at `params`; null if there is none.
    [[nodiscard]] const ptx::KernelRow* kernel_of(void* params);
    /// Runs all launches, one after the other, and what they launch.
    void run();

  private:
    bool take(ChildLaunch& next);

    std::mutex mutex_;
    std::unordered_map<void*, ChildLaunch> prepared_;
    std::list<ChildLaunch> now_;
    std::list<ChildLaunch> tail_;
};

} // namespace cudart_cpu::detail
