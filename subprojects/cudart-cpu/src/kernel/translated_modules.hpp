// Modules of kernels that were translated from nvcc's PTX, and the fat binaries that they stand for.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

namespace cudart_cpu::detail {

/// The module that was translated from the fat binary which nvcc's host code registers; null if there is none.
const ptx::ModuleRow* find_module(const void* fat_binary);

/// Null if the module has no such kernel or variable.
const ptx::KernelRow* find_kernel_row(const ptx::ModuleRow& module, const char* name);
const ptx::VariableRow* find_variable_row(const ptx::ModuleRow& module, const char* name);

} // namespace cudart_cpu::detail
