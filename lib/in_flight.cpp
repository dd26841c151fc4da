// Launch markers, and the owners that wait for them.
#include "in_flight.hpp"

#include "device_guard.hpp"
#include "failure.hpp"

#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>

namespace cudag::detail {

class LaunchMarker {
  public:
    LaunchMarker() { checked(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
    ~LaunchMarker() { ignore(cudaEventDestroy(event_)); }
    LaunchMarker(const LaunchMarker&) = delete;
    LaunchMarker& operator=(const LaunchMarker&) = delete;

    [[nodiscard]] cudaError_t record(cudaStream_t stream) noexcept { return cudaEventRecord(event_, stream); }

    /// True also after an error that ended the context: nothing runs any more.
    [[nodiscard]] bool finished() const noexcept {
        const cudaError_t status = cudaEventQuery(event_);
        if (status == cudaErrorNotReady) return false;
        ignore(status);
        return true;
    }

  private:
    cudaEvent_t event_ = nullptr;
};

namespace {

/// Never destroyed: at the end of the process there is no CUDA to free into.
struct RetiredOwners {
    std::mutex mutex;
    OwnerVersions versions;
    std::atomic<bool> any = false;
};

RetiredOwners& retired_owners() {
    static auto* all = new RetiredOwners;
    return *all;
}

} // namespace

OwnerVersions version_of(Owners&& owners) {
    OwnerVersions version;
    if (!owners.empty()) version.push_back({std::move(owners), nullptr});
    return version;
}

std::shared_ptr<LaunchMarker> InFlight::marker(cudaStream_t stream) const {
    const bool reusable = last_launch_ && last_launch_.use_count() == 1;
    if (reusable) return last_launch_;
    auto capture = cudaStreamCaptureStatusNone;
    checked(cudaStreamIsCapturing(stream, &capture), "cudaStreamIsCapturing");
    // A captured stream has no device to ask for; the launch fails, and says why.
    if (capture != cudaStreamCaptureStatusNone) return std::make_shared<LaunchMarker>();
    const DeviceGuard device(stream); // an event records only in streams of its own device
    return std::make_shared<LaunchMarker>();
}

void InFlight::launched(std::shared_ptr<LaunchMarker>&& marker, cudaStream_t stream) noexcept {
    if (const cudaError_t status = marker->record(stream); status != cudaSuccess) {
        ignore(status);
        ignore(cudaStreamSynchronize(stream)); // without a mark the launch must have ended before owners may go
    }
    last_launch_ = std::move(marker);
}

void InFlight::retire(OwnerVersions&& version) const noexcept {
    if (version.empty()) return;
    if (!last_launch_) {
        version.clear(); // no launch can use them
        return;
    }
    version.front().last_use = last_launch_;
    RetiredOwners& all = retired_owners();
    const std::scoped_lock lock(all.mutex);
    all.versions.splice(all.versions.end(), version);
    all.any = true;
}

bool has_retired_owners() noexcept {
    return retired_owners().any.load(std::memory_order_relaxed);
}

void drop_retired_owners() noexcept {
    OwnerVersions finished;
    RetiredOwners& all = retired_owners();
    const std::scoped_lock lock(all.mutex); // released before `finished` dies: owners run user code
    for (auto version = all.versions.begin(); version != all.versions.end();) {
        const auto next = std::next(version);
        if (version->last_use->finished()) finished.splice(finished.end(), all.versions, version);
        version = next;
    }
    all.any = !all.versions.empty();
}

} // namespace cudag::detail
