// The record of a node's run, as the CPU runtime writes it.
#pragma once

#include <driver_types.h>

#include <cstdint>

namespace cudag::detail {

/// Laid out as cudart_cpu::NodeTime: cudag finds the functions of the CPU runtime at run time, and sees none of its
/// headers. A test compares both.
struct NodeTime {
    cudaGraphNode_t node;
    std::uint64_t launch;
    std::int64_t begin; ///< in nanoseconds
    std::int64_t end;
};

} // namespace cudag::detail
