// The values of attributes that both streams and kernels have.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

// These return the value, and throw Failure if it can be none.

cudaAccessPolicyWindow checked_window(const cudaAccessPolicyWindow& window);
cudaLaunchMemSyncDomain checked_domain(const cudaLaunchMemSyncDomain& domain);
cudaLaunchMemSyncDomainMap checked_domain_map(const cudaLaunchMemSyncDomainMap& map);

/// As CUDA does: the next priority that there is.
int clamped_priority(int priority) noexcept;

} // namespace cudart_cpu::detail
