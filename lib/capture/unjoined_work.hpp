// Unjoined work of a capture: no later work waits for it.
#pragma once

#include "read/capture_names.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

/// Describes the nodes of `graph` from number `first` on without a path to `front`: "kernel blur in step "frame" at
/// f.cpp:12, memcpy". Empty if there are none, or if CUDA does not report them. One CUDA call for
/// each node.
[[nodiscard]] std::string unjoined_work(cudaGraph_t graph, std::uint32_t first,
                                        const std::vector<cudaGraphNode_t>& front, const CaptureNames& names);

} // namespace cudag::detail
