// symbol(): device variables as spans of memory.
#pragma once

#include <cudag/config.hpp>
#include <cudag/span.hpp>

#include <type_traits>

namespace cudag {

namespace detail {

/// Returns the address of a device variable on the current device. Throws Error if CUDA does not know the variable.
[[nodiscard]] CUDAG_EXPORT void* symbol_address(const void* variable);

} // namespace detail

/// Returns the memory of a `__device__` or `__constant__` variable on the current device, for copies and fills.
///
///     extern float table[256]; // defined as __device__ float table[256];
///     b.memcpy(cudag::symbol(table), host);
///
/// The variable is a single object or an array; an array of arrays becomes one range. A `__constant__` variable is
/// constant for kernels only: copies may write it. The span is valid while the variable's module stays loaded. Throws
/// Error if CUDA does not know the variable.
template <class Variable>
[[nodiscard]] DeviceSpan<std::remove_all_extents_t<Variable>> symbol(Variable& variable) {
    using Element = std::remove_all_extents_t<Variable>;
    void* address = detail::symbol_address(const_cast<const void*>(static_cast<const volatile void*>(&variable)));
    return {static_cast<Element*>(address), sizeof(Variable) / sizeof(Element)};
}

} // namespace cudag
