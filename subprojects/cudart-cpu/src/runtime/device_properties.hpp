// Device properties as reported to programs.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

cudaDeviceProp device_properties(int device);

/// Throws cudaErrorInvalidValue for an attribute absent from the model.
int device_attribute(cudaDeviceAttr attribute, int device);

} // namespace cudart_cpu::detail
