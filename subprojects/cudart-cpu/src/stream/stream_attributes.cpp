// The attributes of a stream except its priority.
#include "stream_attributes.hpp"

#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "shared_attributes.hpp"
#include "stream.hpp"

#include <cstring>

namespace cudart_cpu::detail {

namespace {

int checked_policy(const cudaSynchronizationPolicy& policy) {
    const int number = number_in(policy);
    if (number < cudaSyncPolicyAuto || number > cudaSyncPolicyBlockingSync)
        fail(cudaErrorInvalidValue, text("synchronization policy ", number, " is unknown"));
    return number;
}

[[noreturn]] void refuse(int id) {
    fail(cudaErrorInvalidValue, text("attribute ", id, " is none of a stream"));
}

} // namespace

StreamAttributes& StreamAttributes::operator=(const StreamAttributes& other) {
    if (&other == this) return *this;
    const std::scoped_lock lock(mutex_, other.mutex_);
    synchronization_ = other.synchronization_;
    window_ = other.window_;
    domain_ = other.domain_;
    domain_map_ = other.domain_map_;
    return *this;
}

void set_attribute(Stream& stream, int id, const cudaLaunchAttributeValue& value) {
    StreamAttributes& set = stream.attributes();
    const std::lock_guard lock(set.mutex_);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        set.window_ = checked_window(value.accessPolicyWindow);
        return;
    case cudaLaunchAttributeSynchronizationPolicy:
        set.synchronization_ = checked_policy(value.syncPolicy);
        return;
    case cudaLaunchAttributePriority:
        stream.set_priority(clamped_priority(value.priority));
        return;
    case cudaLaunchAttributeMemSyncDomainMap:
        set.domain_map_ = checked_domain_map(value.memSyncDomainMap);
        return;
    case cudaLaunchAttributeMemSyncDomain:
        set.domain_ = checked_domain(value.memSyncDomain);
        return;
    default:
        refuse(id);
    }
}

void get_attribute(const Stream& stream, int id, cudaLaunchAttributeValue& value) {
    const StreamAttributes& asked = stream.attributes();
    const std::lock_guard lock(asked.mutex_);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        value.accessPolicyWindow = asked.window_;
        return;
    case cudaLaunchAttributeSynchronizationPolicy:
        std::memcpy(&value.syncPolicy, &asked.synchronization_, sizeof value.syncPolicy);
        return;
    case cudaLaunchAttributePriority:
        value.priority = stream.priority();
        return;
    case cudaLaunchAttributeMemSyncDomainMap:
        value.memSyncDomainMap = asked.domain_map_;
        return;
    case cudaLaunchAttributeMemSyncDomain:
        value.memSyncDomain = asked.domain_;
        return;
    default:
        refuse(id);
    }
}

} // namespace cudart_cpu::detail
