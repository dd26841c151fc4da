// The one header that knows whether programs are compiled for the CPU runtime.
#pragma once

#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#ifdef CUDART_CPU
#include <cudart_cpu/kernel.hpp>
#endif

namespace cudag::detail {

#ifdef CUDART_CPU

inline constexpr bool on_cpu_runtime = true;

/// Registers `kernel` with the CPU runtime, which then knows its parameters.
template <class... Parameter>
void know_kernel(void (*kernel)(Parameter...)) {
    cudart_cpu::register_kernel(kernel);
}

/// Registers `kernel` with the CPU runtime as the entry `name` of PTX text.
template <class... Parameter>
void know_library_kernel(const char* name, void (*kernel)(Parameter...)) {
    cudart_cpu::register_library_kernel(name, kernel);
}

/// The CPU runtime's cudaGraphSetConditional, by another name: nvcc allows the original name in kernels only.
extern "C" CUDAG_EXPORT void set_condition_on_cpu(cudaGraphConditionalHandle handle,
                                                  unsigned value) __asm__("cudaGraphSetConditional");

#else

inline constexpr bool on_cpu_runtime = false;

// CUDA finds kernels by itself.
template <class... Parameter>
void know_kernel(void (*)(Parameter...)) noexcept {}
template <class... Parameter>
void know_library_kernel(const char*, void (*)(Parameter...)) noexcept {}
inline void set_condition_on_cpu(cudaGraphConditionalHandle, unsigned) noexcept {}

#endif

} // namespace cudag::detail
