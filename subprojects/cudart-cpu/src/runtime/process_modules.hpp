// The shared objects of the process, searched for NVIDIA's CUDA runtime.
#pragma once

#include <string>

namespace cudart_cpu::detail {

/// Throws cudaErrorInitializationError, naming both, if the process has NVIDIA's runtime too: as libcudart.so, or
/// linked statically into the program. Looks once.
void require_only_runtime();

/// Records whether the module of `symbol`, a kernel, has NVIDIA's runtime linked into it.
void note_kernel_module(const void* symbol) noexcept;

} // namespace cudart_cpu::detail
