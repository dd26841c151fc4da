// Controls of the CPU runtime beyond CUDA's API, for tests: schedule, faults, counts of live objects.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace cudart_cpu {

/// Seeds the order of unordered work, from the next graph launch on: the same seed and the same launches give the same
/// orders. Environment: CUDART_CPU_SEED.
void set_seed(std::uint64_t seed);

/// Limits how many nodes of one graph run at once; with 1 they run one at a time, in exactly the drawn order. 0
/// restores the default (the environment's CUDART_CPU_WORKERS, else the number of cores).
void set_workers(unsigned workers);

/// Sets the number of devices, 1 to 8; all have the host's memory. 0 restores the default (the environment's
/// CUDART_CPU_DEVICES, else 1). Before the number is lowered, no thread may use the devices to be removed.
void set_devices(unsigned number);

/// Returns the numbers, from 0 on, of the multiprocessors of a green context, a CUcontext of the driver: a GPU's
/// kernels would read one of them from %smid. Returns nothing for other contexts.
std::vector<unsigned> multiprocessors_of(void* green_context);

/// Permits or forbids `device` to access the memory of `peer`, another device. Initially every access is possible.
void set_peer_access(int device, int peer, bool possible);

/// Sets the CUDA version of the driver, such as 12040. A driver older than the default lacks later additions: newer
/// driver functions are not found, calls that need a newer driver return cudaErrorCallRequiresNewerDriver, values
/// unknown to it cudaErrorInvalidValue. NVIDIA's runtime refuses every call over a driver of an older major version;
/// this one does not. 0 restores the default (the environment's CUDART_CPU_DRIVER, else the version of the toolkit's
/// headers).
void set_driver_version(int version);

/// The functions of the driver that add, set and read nodes.
enum class NodeFunctions {
    all,
    general, ///< those for nodes of any kind only: without the 40 of the runtime and 44 of the driver for one kind,
             ///< which CUDA 13.5 announces as deprecated
    by_kind, ///< those for one kind only: without cuGraphAddNode, cuGraphNodeSetParams, cuGraphExecNodeSetParams and
             ///< cuGraphNodeGetParams; the runtime keeps cudaGraphAddNode and others
};
/// Has the driver lack functions: the driver's are not found, the runtime's return cudaErrorNotSupported. Call it
/// before anything looks the driver's functions up. Environment: CUDART_CPU_NODE_FUNCTIONS, general or by-kind.
void set_node_functions(NodeFunctions there);

/// Returns the node order drawn for the most recent finished graph launch. CUDART_CPU_TRACE=1 prints each to stderr.
std::vector<std::string> last_order();

/// Makes the n-th runtime call from now (1 = the next), on any thread, fail with `error` before it has any effect. 0
/// disarms. Not counted: cudaGetLastError, cudaPeekAtLastError, cudaGetErrorName, cudaGetErrorString, cudaLogs*.
void fail_call(std::uint64_t n, cudaError_t error);

/// Returns the number of runtime calls so far, counted as by fail_call.
std::uint64_t call_count();

/// Makes the n-th run from now (1 = the next) of `node` in launches of graphs fail with `error`, such as
/// cudaErrorIllegalAddress, as if its kernel had: the node does nothing, later nodes and kernels do not run, and calls
/// return the error. `node` belongs to the graph that was instantiated, or to one owned by its nodes. Null disarms.
void fail_node(cudaGraphNode_t node, cudaError_t error, std::uint64_t n = 1);

/// Forgets a failed kernel or node, which CUDA does not: calls succeed again, and all objects live on. Synchronise
/// before.
void forget_failure();

/// The objects held by the program. Each counts from the call that makes it to the call that destroys it, even while
/// work that uses it is still pending.
struct LiveCounts {
    std::size_t streams;
    std::size_t events;
    std::size_t device_allocations;
    std::size_t host_allocations;
    std::size_t graphs;
    std::size_t graph_execs;
    std::size_t user_objects;
    std::size_t external_semaphores;

    bool operator==(const LiveCounts&) const = default;
};

LiveCounts live();

/// Returns the value of a timeline; for other external semaphores 1 while signalled, else 0. A dead handle has 0. A
/// test plays the external API (signal, wait) through another import of the same file (memfd_create, dup).
std::uint64_t external_semaphore_value(cudaExternalSemaphore_t semaphore);

} // namespace cudart_cpu

#pragma GCC visibility pop
