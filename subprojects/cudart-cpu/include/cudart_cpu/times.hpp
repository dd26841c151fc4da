// Times of nodes: the runs of each node in the launches of an exec.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

namespace cudart_cpu {

/// One run of a node.
struct NodeTime {
    cudaGraphNode_t node; ///< of the graph from which the exec was instantiated, or of one owned by its nodes
    std::uint64_t launch; ///< number of the launch since `cudart_cpu_start_times`, from 0
    std::int64_t begin;   ///< in nanoseconds of the steady clock
    std::int64_t end;
};

} // namespace cudart_cpu

// The functions have C names, so that a library finds them in the program's runtime, if it has them.
extern "C" {

/// Begins to record the runs of all enabled nodes in later launches of `exec`, also of nodes in child graphs and
/// bodies: a node in the body of a loop has one record for each turn. Forgets earlier records. Launches by kernels are
/// not recorded. Invalid handles are ignored.
void cudart_cpu_start_times(cudaGraphExec_t exec);
/// Ends the recording for later launches, and calls `take(context, times, count)` once with the records so far, in the
/// order of their ends, unless there are none. Synchronise before: launches in flight are recorded in part. Invalid
/// handles are ignored.
void cudart_cpu_stop_times(cudaGraphExec_t exec,
                           void (*take)(void* context, const cudart_cpu::NodeTime* times, std::size_t count),
                           void* context);
}
