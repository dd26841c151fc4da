// wait_for_previous(), let_next_start(): early launch, for device code.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/runtime.hpp>

#include <cuda_runtime_api.h>

namespace cudag {

/// Device only: waits until the kernels before this one, at the other ends of its programmatic edges, have ended, and
/// makes their writes visible: CUDA's `cudaGridDependencySynchronize()`. Returns at once after a normal start. Does
/// nothing in code compiled for devices below compute capability 9.0: such code never starts early, on newer devices
/// either.
///
///     // __global__ void step(float* x, int n) { cudag::wait_for_previous(); ... }
///     b.kernel({.grid = 8, .block = 256, .waits_for_previous = true}, step, x, 2048);
///
/// `LaunchConfig::waits_for_previous` declares this call. By the declaration, cudag may let the kernel start before the
/// kernels directly before it have ended (`Plan::early`). The duties of such a kernel:
///   - Each launch makes the call at least once, even without any work. Begin the kernel with it, before any early
///     return.
///   - Before the call returns, a thread neither reads memory written by other nodes nor writes memory used by them.
///     The call of one thread suffices for the threads behind a barrier after it. Constants, indices, shared memory and
///     memory of this kernel alone may come first: this is the time saved.
///
/// cudag cannot see the code of a kernel on a GPU, except PTX text (`Library::from_ptx`). The CPU runtime checks the
/// first duty: a launch without the call is an error of the kernel, by name.
inline __device__ void wait_for_previous() CUDAG_DEVICE_ONLY; // cudag: for kernels; nodes wait by .after(nodes...)

/// Device only: lets the next kernel start as soon as each block of this one has made the call or has ended, if its
/// edge is programmatic: CUDA's `cudaTriggerProgrammaticLaunchCompletion()`. Without the call, it may start when each
/// block has ended. Makes no memory visible: the next kernel waits for that by `wait_for_previous`. Does nothing in
/// code compiled for devices below compute capability 9.0.
inline __device__ void let_next_start() CUDAG_DEVICE_ONLY; // cudag: for kernels

#ifdef CUDAG_DEVICE_CODE

namespace detail {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
inline constexpr bool has_early_launch = true;
#else
inline constexpr bool has_early_launch = on_cpu_runtime;
#endif

} // namespace detail

inline __device__ void wait_for_previous() {
    if constexpr (detail::has_early_launch) cudaGridDependencySynchronize();
}
inline __device__ void let_next_start() {
    if constexpr (detail::has_early_launch) cudaTriggerProgrammaticLaunchCompletion();
}

#endif

} // namespace cudag
