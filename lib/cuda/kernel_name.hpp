// Kernels' names for people.
#pragma once

#include <cuda.h>

#include <string>
#include <vector>

namespace cudag::detail {

/// "scale<float>" for a kernel's symbol or function; "kernel" if CUDA does not tell. Leaves the last error as it is.
[[nodiscard]] std::string kernel_name(const void* symbol);
[[nodiscard]] std::string kernel_name(CUfunction function);

/// The types of a kernel's parameters as its name tells them: "int", "float const*". Empty if it does not.
[[nodiscard]] std::vector<std::string> parameter_types(CUfunction function);

/// Whether the names of two kernels, which C++ gives the types of their parameters, say the same of these.
[[nodiscard]] bool same_parameters(CUfunction a, CUfunction b);

} // namespace cudag::detail
