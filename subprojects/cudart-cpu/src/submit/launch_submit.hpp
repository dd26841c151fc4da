// Submission of kernels to a stream.
#pragma once

#include "graph/graph_kernel_work.hpp"

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// Launches, or captures, the kernel. Writes the handle of a device-updatable node into its attribute.
void submit_launch(const KernelParams& params, cudaStream_t stream, cudaLaunchAttribute* attributes = nullptr,
                   unsigned attribute_count = 0);

} // namespace cudart_cpu::detail
