// Readable names of kernels.
#pragma once

#include <cuda.h>

#include <string>
#include <vector>

namespace cudag::detail {

/// "scale<float>" for a kernel's symbol or function; "kernel" if CUDA does not report it. Leaves the last error as it
/// is.
[[nodiscard]] std::string kernel_name(const void* symbol);
[[nodiscard]] std::string kernel_name(CUfunction function);

/// "scale<float>" for the name of a symbol: "_Z5scaleIfEviPT_".
[[nodiscard]] std::string demangled_kernel_name(const char* mangled);

/// The types of a kernel's parameters, from its name: "int", "float const*". Empty if the name lacks them.
[[nodiscard]] std::vector<std::string> parameter_types(CUfunction function);

/// Whether the C++ names of two kernels declare the same parameter types.
[[nodiscard]] bool same_parameters(CUfunction a, CUfunction b);

} // namespace cudag::detail
