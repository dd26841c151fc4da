// An owned copy of a kernel's arguments.
#pragma once

#include "kernel_registry.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace cudart_cpu::detail {

/// Throws cudaErrorInvalidValue if the kernel takes parameters but there are `none`.
void require_arguments(const KernelEntry& kernel, bool none);

/// Copies the arguments behind `args`, each at its own alignment; pointers() is a `void** args` of the copies.
class KernelArgs {
  public:
    /// Throws cudaErrorInvalidValue if the kernel takes parameters and `args`, or one of its elements, is null.
    KernelArgs(const KernelEntry& kernel, void* const* args);
    KernelArgs(const KernelArgs& other);
    KernelArgs(KernelArgs&&) noexcept = default;
    KernelArgs& operator=(const KernelArgs&) = delete;
    ~KernelArgs() = default;

    [[nodiscard]] void** pointers() noexcept { return pointers_.data(); }
    [[nodiscard]] void* const* pointers() const noexcept { return pointers_.data(); }

  private:
    const KernelEntry* kernel_;
    std::unique_ptr<std::byte[]> storage_;
    std::vector<void*> pointers_;
};

} // namespace cudart_cpu::detail
