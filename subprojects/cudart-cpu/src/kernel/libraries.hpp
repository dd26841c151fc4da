// Libraries of kernels, loaded from shared objects, PTX or fat binaries.
#pragma once

#include "kernel_registry.hpp"
#include "runtime/cuda_versions.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudart_cpu::detail {

// These throw Failure for a dead handle, and by name for what is not in the library or cannot be translated.

/// Loads code that ends with a zero, or tells its size itself, or has `available` bytes.
cudaLibrary_t load_library(const char* code, std::size_t available);
cudaLibrary_t load_library_from_file(const char* path);
void unload_library(cudaLibrary_t handle);
/// Throws cudaErrorInvalidKernelImage if the loaded bytes are no code of any kind.
void require_code_of_library(cudaLibrary_t handle);

const KernelEntry& kernel_in_library(cudaLibrary_t handle, const std::string& name);
std::vector<std::string> kernel_names_of_library(cudaLibrary_t handle);
/// Returns the library of one of the kernels; null if it has none.
cudaLibrary_t library_of_kernel(const KernelEntry& kernel);

struct LibraryVariable {
    void* address;
    std::size_t bytes;
};
LibraryVariable variable_in_library(cudaLibrary_t handle, const std::string& name);

} // namespace cudart_cpu::detail
