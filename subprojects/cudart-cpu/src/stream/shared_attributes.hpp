// Checks of the attributes common to streams and kernels.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

// These return the value, and throw Failure if it is invalid.

cudaAccessPolicyWindow checked_window(const cudaAccessPolicyWindow& window);
cudaLaunchMemSyncDomain checked_domain(const cudaLaunchMemSyncDomain& domain);
cudaLaunchMemSyncDomainMap checked_domain_map(const cudaLaunchMemSyncDomainMap& map);

/// Returns the closest valid priority, as CUDA does.
int clamped_priority(int priority) noexcept;

} // namespace cudart_cpu::detail
