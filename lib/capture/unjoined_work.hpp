// What a capture has recorded that nothing waits for.
#pragma once

#include "read/capture_names.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

/// The nodes of `graph`, from number `first` on, that nodes of `front` do not come after: "kernel blur in step "frame"
/// at f.cpp:12, memcpy". Empty if there are none, or CUDA does not tell. Two calls of CUDA for each node.
[[nodiscard]] std::string unjoined_work(cudaGraph_t graph, std::uint32_t first,
                                        const std::vector<cudaGraphNode_t>& front, const CaptureNames& names);

} // namespace cudag::detail
