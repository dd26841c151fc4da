// Checks of the attributes common to streams and kernels.
#include "shared_attributes.hpp"

#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

void require_domain(const char* name, int domain) {
    if (domain >= mem_sync_domains)
        fail(cudaErrorInvalidValue, text("Invalid mem sync domain map: ", name, " domain maps to ", domain,
                                         " which is beyond the device limit ", mem_sync_domains - 1));
}

} // namespace

cudaAccessPolicyWindow checked_window(const cudaAccessPolicyWindow& window) {
    if (!(window.hitRatio >= 0 && window.hitRatio <= 1))
        fail(cudaErrorInvalidValue, text("Hit ratio ", window.hitRatio, " is outside of valid range [0,1]"));
    if (number_in(window.missProp) == cudaAccessPropertyPersisting)
        fail(cudaErrorInvalidValue, "Cache miss property cannot be set to CU_ACCESS_PROPERTY_PERSISTING");
    if (window.num_bytes > max_access_policy_window)
        fail(cudaErrorInvalidValue,
             text("Access policy window size ", window.num_bytes, " > max supported ", max_access_policy_window));
    return window;
}

cudaLaunchMemSyncDomain checked_domain(const cudaLaunchMemSyncDomain& domain) {
    const int number = number_in(domain);
    if (number != cudaLaunchMemSyncDomainDefault && number != cudaLaunchMemSyncDomainRemote)
        fail(cudaErrorInvalidValue, text("Invalid CUlaunchMemSyncDomain value ", number));
    return domain;
}

cudaLaunchMemSyncDomainMap checked_domain_map(const cudaLaunchMemSyncDomainMap& map) {
    require_domain("default", map.default_);
    require_domain("remote", map.remote);
    return map;
}

int clamped_priority(int priority) noexcept {
    return std::clamp(priority, greatest_stream_priority, least_stream_priority);
}

} // namespace cudart_cpu::detail
