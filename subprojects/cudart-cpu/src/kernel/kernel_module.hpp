// Libraries of kernels as shared objects, compiled for this runtime.
#pragma once

#include "kernel_registry.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace cudart_cpu::detail {

/// Keeps a shared object loaded. Each module has its own, so its own variables, as each CUDA library has.
class KernelModule {
  public:
    /// Whether a shared object begins at `code`. The code ends with a zero or has `available` bytes.
    static bool is_image(const char* code, std::size_t available) noexcept;
    /// The size in bytes of the shared object at `code`, by its headers. Throws cudaErrorInvalidKernelImage if it is
    /// more than `available`.
    static std::size_t image_size(const char* code, std::size_t available);

    /// Throws cudaErrorInvalidKernelImage, with the loader's reason, if the image cannot be loaded.
    explicit KernelModule(std::string_view image);
    ~KernelModule();
    KernelModule(const KernelModule&) = delete;
    KernelModule& operator=(const KernelModule&) = delete;

    /// The kernels, in the order of their names.
    [[nodiscard]] const std::vector<const KernelEntry*>& kernels() const noexcept { return kernels_; }

  private:
    int file_;
    void* handle_;
    std::vector<const KernelEntry*> kernels_;
};

} // namespace cudart_cpu::detail
