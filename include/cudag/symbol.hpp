// Device variables as ranges of memory.
#pragma once

#include <cudag/config.hpp>
#include <cudag/span.hpp>

#include <type_traits>

namespace cudag {

namespace detail {

[[nodiscard]] CUDAG_EXPORT void* symbol_address(const void* variable);

} // namespace detail

/// The memory of a `__device__` or `__constant__` variable, a single object or an array, on the current device: copies
/// to and from it are ordinary ones, such as `b.memcpy(symbol(table), values)`. A `__constant__` variable is constant
/// for kernels only: copies may write it. An array of arrays becomes one range.
/// Throws Error if CUDA does not know the variable. Valid as long as the module that defines it stays loaded.
template <class Variable>
[[nodiscard]] DeviceSpan<std::remove_all_extents_t<Variable>> symbol(Variable& variable) {
    using Element = std::remove_all_extents_t<Variable>;
    void* address = detail::symbol_address(const_cast<const void*>(static_cast<const volatile void*>(&variable)));
    return {static_cast<Element*>(address), sizeof(Variable) / sizeof(Element)};
}

} // namespace cudag
