// The driver's description of a copy as the runtime's, and back.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// Throws Failure for what no copy has.
cudaMemcpy3DParms runtime_copy(const CUDA_MEMCPY3D& copy);
CUDA_MEMCPY3D driver_copy(const cudaMemcpy3DParms& copy);

} // namespace cudart_cpu::detail
