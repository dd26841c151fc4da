// What the one device says about itself.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

cudaDeviceProp device_properties();

/// Throws cudaErrorInvalidValue for an attribute that the model has no answer for.
int device_attribute(cudaDeviceAttr attribute);

} // namespace cudart_cpu::detail
