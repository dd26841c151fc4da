// Nodes that say what they write are held to it: CUDART_CPU_CHECK=writes.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

namespace cudart_cpu {

/// `slices` times `rows` times `row_bytes` bytes: rows start `pitch` bytes apart, slices `slice_pitch` bytes apart.
struct NodeRegion {
    std::uintptr_t begin;
    std::size_t row_bytes;
    std::size_t rows;
    std::size_t pitch;
    std::size_t slices;
    std::size_t slice_pitch;
    bool is_written; ///< else the node only reads it
};

} // namespace cudart_cpu

// With C's names, so that a library finds them in whichever runtime a program has.
extern "C" {

/// Whether launches look at what nodes write: CUDART_CPU_CHECK has the word "writes", or the last `watch_writes` says
/// so.
bool cudart_cpu_watches_writes();
void cudart_cpu_watch_writes(bool watches);

/// All that `node`, of the graph from which `exec` was instantiated, or of one that its nodes own, does to memory, as
/// far as launches to come look: no byte of the regions of all nodes of `exec`, where they are in device memory that is
/// allocated, may change while the node runs, but for those that it writes. One that does is an error of the kernel,
/// with `name`. Nodes without a declaration may do anything. While launches look they run one node at a time; what runs
/// beside them counts as theirs. Handles that are none are ignored.
void cudart_cpu_declare_node(cudaGraphExec_t exec, cudaGraphNode_t node, const char* name,
                             const cudart_cpu::NodeRegion* regions, std::size_t count);
/// No node of `exec` has a declaration any more, as far as launches to come look.
void cudart_cpu_forget_declarations(cudaGraphExec_t exec);
}
