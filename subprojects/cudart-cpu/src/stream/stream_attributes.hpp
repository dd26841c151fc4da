// The attributes of a stream except its priority.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>

namespace cudart_cpu::detail {

class Stream;

class StreamAttributes {
  public:
    StreamAttributes() = default;
    /// Copies the attributes of another stream.
    StreamAttributes& operator=(const StreamAttributes& other);

  private:
    friend void set_attribute(Stream& stream, int id, const cudaLaunchAttributeValue& value);
    friend void get_attribute(const Stream& stream, int id, cudaLaunchAttributeValue& value);

    mutable std::mutex mutex_;
    int synchronization_ = -1; // no policy was set
    cudaAccessPolicyWindow window_{};
    cudaLaunchMemSyncDomain domain_ = cudaLaunchMemSyncDomainDefault;
    cudaLaunchMemSyncDomainMap domain_map_{0, 1};
};

// These throw Failure for attributes absent from streams, and for invalid values.

void set_attribute(Stream& stream, int id, const cudaLaunchAttributeValue& value);
void get_attribute(const Stream& stream, int id, cudaLaunchAttributeValue& value);

} // namespace cudart_cpu::detail
