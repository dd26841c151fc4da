// Device settings made by programs: limits, cache configuration, flags.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudart_cpu::detail {

/// These throw cudaErrorUnsupportedLimit for limits unsupported at compute capability 9.0, cudaErrorInvalidValue for
/// unknown ones. Values are rounded and clamped as the device requires.
void set_device_limit(int device, cudaLimit limit, std::size_t value);
std::size_t device_limit(int device, cudaLimit limit);

/// The largest stack limit of all devices.
std::size_t largest_stack_limit();

/// Sets the preferred division of the multiprocessor's memory into shared memory and cache. Nothing here depends on it.
void set_device_cache_config(int device, cudaFuncCache config);
cudaFuncCache device_cache_config(int device);
/// Throws cudaErrorInvalidValue for an unknown configuration.
void require_cache_config(cudaFuncCache config);

/// Throws cudaErrorInvalidValue for flags that are unknown or exclude each other.
void set_device_flags(int device, unsigned flags);
unsigned device_flags(int device);

/// Restores the state of the process's start.
void reset_device_settings(int device);

} // namespace cudart_cpu::detail
