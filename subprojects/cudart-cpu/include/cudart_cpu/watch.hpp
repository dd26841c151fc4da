// Declarations of nodes: the memory they write, enforced with CUDART_CPU_CHECK=writes, and waits for previous kernels.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

namespace cudart_cpu {

/// A region of `slices` times `rows` times `row_bytes` bytes: rows start `pitch` bytes apart, slices `slice_pitch`
/// bytes apart.
struct NodeRegion {
    std::uintptr_t begin;
    std::size_t row_bytes;
    std::size_t rows;
    std::size_t pitch;
    std::size_t slices;
    std::size_t slice_pitch;
    bool is_written; ///< else only read
};

} // namespace cudart_cpu

// The functions have C names, so that a library finds them in the program's runtime, if it has them.
extern "C" {

/// Whether launches check the writes of nodes: after `watch_writes`, by its argument; before, if CUDART_CPU_CHECK has
/// the word "writes".
bool cudart_cpu_watches_writes();
void cudart_cpu_watch_writes(bool watches);

/// Declares all memory accesses of `node` for later launches. `node` belongs to the graph from which `exec` was
/// instantiated, or to one owned by its nodes. While the node runs, no byte of the regions of all nodes of `exec` may
/// change, except in the regions that it writes; only allocated device memory is checked. A violation is an error of
/// the kernel, with `name`. Nodes without a declaration may do anything, and so may conditional nodes:
/// the nodes in their bodies have declarations of their own. Checking launches run one node at a time;
/// concurrent writes from elsewhere count as the node's. Invalid handles are ignored.
void cudart_cpu_declare_node(cudaGraphExec_t exec, cudaGraphNode_t node, const char* name,
                             const cudart_cpu::NodeRegion* regions, std::size_t count);
/// Declares that the kernel of `node` calls cudaGridDependencySynchronize in every launch, with CUDART_CPU_CHECK or
/// without: a launch in which no thread has called it is an error of the kernel, with `name`. Invalid handles are
/// ignored.
void cudart_cpu_declare_wait(cudaGraphExec_t exec, cudaGraphNode_t node, const char* name);
/// Removes the declarations of accesses of all nodes of `exec`, for later launches.
void cudart_cpu_forget_declarations(cudaGraphExec_t exec);
}
