// The failure of a kernel, returned by all later calls, and the reasons of refused kernels.
#pragma once

#include <driver_types.h>

#include <string>

namespace cudart_cpu::detail {

/// Records the first failure of a kernel, and reports it in the log and on stderr.
void set_kernel_failure(cudaError_t code, const std::string& text) noexcept;
/// Returns the error of a failed kernel; cudaSuccess if none has failed.
cudaError_t kernel_failure() noexcept;
/// Whether a kernel has failed: nothing runs any longer. True before `kernel_failure` has the code.
bool has_kernel_failed() noexcept;
/// Forgets the failure.
void clear_kernel_failure() noexcept;

/// Prints to stderr why a kernel cannot run, each reason once: the code alone is too vague, and few users read the log.
void tell_refusal(const std::string& reason) noexcept;

} // namespace cudart_cpu::detail
