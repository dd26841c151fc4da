// What a kernel's failure leaves behind, an error that all later calls answer with, and the reasons of kernels that are
// refused.
#pragma once

#include <driver_types.h>

#include <string>

namespace cudart_cpu::detail {

/// Notes the first failure of a kernel, and tells of it in the log and on stderr.
void set_kernel_failure(cudaError_t code, const std::string& text) noexcept;
/// cudaSuccess if no kernel has failed.
cudaError_t kernel_failure() noexcept;
/// As if no kernel had failed.
void clear_kernel_failure() noexcept;

/// Tells on stderr why a kernel cannot run, each reason once: the code alone says too little, and few look into the
/// log.
void tell_refusal(const std::string& reason) noexcept;

} // namespace cudart_cpu::detail
