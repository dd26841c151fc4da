// Modules of kernels translated from nvcc's PTX, and their fat binaries.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace cudart_cpu::detail {

/// Takes the module translated from a fat binary registered by nvcc's host code; null if there is none. Equal binaries
/// get different modules, as long as one is not taken; give_back_module ends this.
const ptx::ModuleRow* take_module(const void* fat_binary);
void give_back_module(const ptx::ModuleRow* module);

/// The bytes of a fat binary registered by nvcc's host code; empty if it is no fat binary.
std::string_view image_of(const void* fat_binary);

/// The bytes of a fat binary, or of the one behind its wrapper, at a place with `available` bytes; empty if there is
/// none.
std::string_view fat_binary_at(const char* place, std::size_t available);

/// Loads the module of a shared object, which stays loaded: it serves no other fat binary. Returns null if it cannot be
/// loaded, and writes the reason to `refusal`.
const ptx::ModuleRow* load_module(const char* path, std::string& refusal);

/// These functions return null if the module has no such kernel or variable.
const ptx::KernelRow* find_kernel_row(const ptx::ModuleRow& module, const char* name);
const ptx::VariableRow* find_variable_row(const ptx::ModuleRow& module, const char* name);

/// Finds a kernel by the function of its threads; both are null if it belongs to no module.
std::pair<const ptx::ModuleRow*, const ptx::KernelRow*> find_kernel_by_code(const void* code);

/// Whether the bytes belong to a variable of any module: kernels see those of other files with relocatable device code.
bool is_in_variable(ptx::u64 at, ptx::u64 bytes);

} // namespace cudart_cpu::detail
