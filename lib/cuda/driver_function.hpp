// Fetching of the driver's functions by name: nothing links to libcuda.
#pragma once

#include "version.hpp"

namespace cudag::detail {

/// Returns a function that drivers of CUDA `since` and later have; null if this driver is older, or has none of this
/// name. Throws Error if the query fails.
[[nodiscard]] void* driver_function(const char* name, int since);
/// Returns a function that every driver of CUDA 12.4 and later should have. Throws Error if this one has none, and
/// tells the `consequence`, if given: ", so no memory can be releasable".
[[nodiscard]] void* needed_driver_function(const char* name, const char* consequence);

template <class F>
void fetch_optional(F& function, const char* name, int since = oldest_version) {
    function = reinterpret_cast<F>(driver_function(name, since));
}
template <class F>
void fetch_needed(F& function, const char* name, const char* consequence = "") {
    function = reinterpret_cast<F>(needed_driver_function(name, consequence));
}

} // namespace cudag::detail
