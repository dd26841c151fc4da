// Calls a host node's callable from CUDA's thread, and carries its exceptions to the user's.
#pragma once

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// A host node's function; `task` points at its HostTask. Exceptions wait for `rethrow_host_exception`.
void CUDART_CB run_host_task(void* task) noexcept;

/// Throws the oldest exception that a host node threw and nobody has seen, if there is one.
void rethrow_host_exception();

} // namespace cudag::detail
