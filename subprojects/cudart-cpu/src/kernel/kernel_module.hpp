// A library of kernels that is a shared object, compiled for this runtime.
#pragma once

#include "kernel_registry.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace cudart_cpu::detail {

/// Keeps the shared object loaded. Each has its own, so its own variables, as each CUDA library has.
class KernelModule {
  public:
    /// Whether a shared object begins at `code`, which ends with a zero or has `available` bytes.
    static bool is_image(const char* code, std::size_t available) noexcept;
    /// How many bytes the shared object at `code` has, as its headers say. Throws cudaErrorInvalidKernelImage if those
    /// are more than `available`.
    static std::size_t image_size(const char* code, std::size_t available);

    /// Throws cudaErrorInvalidKernelImage with the loader's reason.
    explicit KernelModule(std::string_view image);
    ~KernelModule();
    KernelModule(const KernelModule&) = delete;
    KernelModule& operator=(const KernelModule&) = delete;

    /// By name.
    [[nodiscard]] const std::vector<const KernelEntry*>& kernels() const noexcept { return kernels_; }

  private:
    int file_;
    void* handle_;
    std::vector<const KernelEntry*> kernels_;
};

} // namespace cudart_cpu::detail
