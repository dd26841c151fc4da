// What a device says about itself.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

cudaDeviceProp device_properties(int device);

/// Throws cudaErrorInvalidValue for an attribute that the model has no answer for.
int device_attribute(cudaDeviceAttr attribute, int device);

} // namespace cudart_cpu::detail
