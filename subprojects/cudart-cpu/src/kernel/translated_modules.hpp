// Modules of kernels that were translated from nvcc's PTX, and the fat binaries that they stand for.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <string>
#include <string_view>

namespace cudart_cpu::detail {

/// The module that was translated from the fat binary which nvcc's host code registers; null if there is none. Another
/// one for each of equal binaries, as long as there is one, until it is given back.
const ptx::ModuleRow* take_module(const void* fat_binary);
void give_back_module(const ptx::ModuleRow* module);

/// The fat binary that nvcc's host code registers; empty if it is none.
std::string_view image_of(const void* fat_binary);

/// The module of a shared object, which stays loaded: it stands for no other fat binary. Null if it cannot be loaded,
/// and then writes why.
const ptx::ModuleRow* load_module(const char* path, std::string& refusal);

/// Null if the module has no such kernel or variable.
const ptx::KernelRow* find_kernel_row(const ptx::ModuleRow& module, const char* name);
const ptx::VariableRow* find_variable_row(const ptx::ModuleRow& module, const char* name);

} // namespace cudart_cpu::detail
