// What a test may ask of the CPU runtime beyond CUDA's API: the schedule, faults, counts of live objects.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace cudart_cpu {

/// Seeds the order in which unordered work runs, from the next graph launch on: the same seed, followed by the same
/// launches, gives the same orders. Environment: CUDART_CPU_SEED.
void set_seed(std::uint64_t seed);

/// How many nodes of one graph may run at once; 1 runs them one at a time, in exactly the drawn order.
/// 0 restores the default (the environment's CUDART_CPU_WORKERS, else the number of cores).
void set_workers(unsigned workers);

/// How many devices there are, 1 to 8; all have the host's memory. 0 restores the default (the environment's
/// CUDART_CPU_DEVICES, else 1). Fewer than there were: for when no thread uses those that go.
void set_devices(unsigned number);

/// Whether `device` can access the memory of `peer`, another device; at first each can.
void set_peer_access(int device, int peer, bool possible);

/// The CUDA version of the driver, such as 12040: an older driver than the default lacks what came later. Its functions
/// are not found, calls that need a newer one answer cudaErrorCallRequiresNewerDriver, values that it does not know
/// cudaErrorInvalidValue. NVIDIA's runtime refuses every call over a driver of an older major version; this one does
/// not. 0 restores the default (the environment's CUDART_CPU_DRIVER, else that of the toolkit's headers).
void set_driver_version(int version);

/// The node order drawn for the most recent finished graph launch. CUDART_CPU_TRACE=1 prints each to stderr.
std::vector<std::string> last_order();

/// The n-th runtime call from now (1 = the next), on any thread, fails with `error` before it has any effect.
/// 0 disarms. Not counted: cudaGetLastError, cudaPeekAtLastError, cudaGetErrorName, cudaGetErrorString, cudaLogs*.
void fail_call(std::uint64_t n, cudaError_t error);

/// Runtime calls so far, those that fail_call counts.
std::uint64_t call_count();

/// What the program holds. Objects count from the call that makes them to the call that destroys them, also while work
/// that uses them is still pending.
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

/// The value of a timeline; of another external semaphore 1 while it is signalled. 0 for a dead handle. What an
/// external API would signal and wait for, a test does through another import of the same file (memfd_create, dup).
std::uint64_t external_semaphore_value(cudaExternalSemaphore_t semaphore);

} // namespace cudart_cpu

#pragma GCC visibility pop
