// What a program sets of a device: limits, cache configuration, flags.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudart_cpu::detail {

/// These throw cudaErrorUnsupportedLimit for limits that compute capability 9.0 does not have, or cudaErrorInvalidValue
/// for those that nobody has. Values are rounded and clamped as the device needs it.
void set_device_limit(int device, cudaLimit limit, std::size_t value);
std::size_t device_limit(int device, cudaLimit limit);

/// Of all devices.
std::size_t largest_stack_limit();

/// How shared memory and cache share the multiprocessor's memory: a wish, which nothing here depends on.
void set_device_cache_config(int device, cudaFuncCache config);
cudaFuncCache device_cache_config(int device);
/// Throws cudaErrorInvalidValue for what is no configuration.
void require_cache_config(cudaFuncCache config);

/// Throws cudaErrorInvalidValue for flags that do not exist, or do not go together.
void set_device_flags(int device, unsigned flags);
unsigned device_flags(int device);

/// All as at the start of the process.
void reset_device_settings(int device);

} // namespace cudart_cpu::detail
