// Launch markers, and the owners that wait for them.
#include "in_flight.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/progress.hpp"
#include "stream_clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

/// Retired owners that were last used in one stream, where launches end in order. What has a stream's handle after it
/// stands behind it: that may be dropped late, never early, as each marker is asked.
struct RetiredOwners {
    OwnerVersions versions;
};

/// Never destroyed: at the end of the process there is no CUDA to free into.
struct AllRetiredOwners {
    std::mutex mutex;
    std::unordered_map<cudaStream_t, std::shared_ptr<RetiredOwners>> of_stream;
    std::atomic<std::size_t> count = 0; ///< of versions
};

AllRetiredOwners& retired_owners() noexcept {
    alignas(AllRetiredOwners) static std::byte memory[sizeof(AllRetiredOwners)]; // none to ask for: that could fail
    static auto* all = new (memory) AllRetiredOwners;
    return *all;
}

std::shared_ptr<RetiredOwners> retired_owners_of(cudaStream_t stream) {
    AllRetiredOwners& all = retired_owners();
    const std::scoped_lock lock(all.mutex);
    if (const auto known = all.of_stream.find(stream); known != all.of_stream.end()) return known->second;
    auto queue = std::make_shared<RetiredOwners>();
    all.of_stream.emplace(stream, queue);
    return queue;
}

} // namespace

/// By the clock of its stream, or by an event of its own where that has none.
class LaunchMarker {
  public:
    LaunchMarker(cudaStream_t stream, std::shared_ptr<StreamClock> clock)
        : stream_(stream), retired_(retired_owners_of(stream)), clock_(std::move(clock)) {}
    /// For a launch in `stream`, whose device is current.
    explicit LaunchMarker(cudaStream_t stream) : stream_(stream), retired_(retired_owners_of(stream)) {
        checked(cudaGetDevice(&device_), "cudaGetDevice");
        cudaEvent_t event = nullptr;
        checked(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        event_.reset(event);
    }

    /// Whether it can mark another launch in `stream`.
    [[nodiscard]] bool is_of(cudaStream_t stream) const noexcept {
        return stream_ == stream && (clock_ == nullptr || clock_->is_open());
    }
    [[nodiscard]] RetiredOwners& retired() const noexcept { return *retired_; }
    /// Whether it has an event, of that device.
    [[nodiscard]] bool has_event_of(int device) const noexcept { return event_ != nullptr && device_ == device; }
    /// For a launch in another stream of its event's device.
    void move_to(cudaStream_t stream) {
        retired_ = retired_owners_of(stream);
        stream_ = stream;
    }

    /// A launch was enqueued.
    [[nodiscard]] cudaError_t record() noexcept {
        if (clock_ == nullptr) return cudaEventRecord(event_.get(), stream_);
        number_ = clock_->tick();
        return cudaSuccess;
    }
    /// Somebody will ask whether it has ended.
    void prepare() const noexcept {
        if (clock_ != nullptr) clock_->mark(number_);
    }
    [[nodiscard]] bool finished() const noexcept {
        if (clock_ != nullptr) return clock_->has_reached(number_);
        return progress_of(event_.get()) != Progress::running;
    }
    void wait() const noexcept {
        if (clock_ != nullptr) return clock_->wait_for(number_);
        ignore(cudaEventSynchronize(event_.get()));
    }

  private:
    cudaStream_t stream_;
    std::shared_ptr<RetiredOwners> retired_;
    std::shared_ptr<StreamClock> clock_;
    std::uint64_t number_ = 0;
    int device_ = 0;
    UniqueEvent event_;
};

namespace {

std::shared_ptr<LaunchMarker> new_marker(cudaStream_t stream) {
    const DeviceGuard device(stream); // an event records only in streams of its own device
    return std::make_shared<LaunchMarker>(stream);
}

} // namespace

OwnerVersions version_of(Owners&& owners) {
    OwnerVersions version;
    if (!owners.empty()) version.push_back({std::move(owners), nullptr});
    return version;
}

std::shared_ptr<LaunchMarker> InFlight::marker(cudaStream_t stream) const {
    const bool reusable = last_launch_ && last_launch_.use_count() == 1;
    if (reusable && last_launch_->is_of(stream)) [[likely]]
        return nullptr;
    if (auto clock = StreamClock::of(stream)) return std::make_shared<LaunchMarker>(stream, std::move(clock));
    auto capture = cudaStreamCaptureStatusNone;
    checked(cudaStreamIsCapturing(stream, &capture), "cudaStreamIsCapturing");
    // A captured stream has no device to ask for; the launch fails, and says why.
    if (capture != cudaStreamCaptureStatusNone) return std::make_shared<LaunchMarker>(stream);
    if (reusable && last_launch_->has_event_of(device_of(stream))) {
        last_launch_->move_to(stream);
        return nullptr;
    }
    return new_marker(stream);
}

void InFlight::launched(std::shared_ptr<LaunchMarker>&& marker, cudaStream_t stream) noexcept {
    cudaError_t status = (marker ? *marker : *last_launch_).record();
    if (status != cudaSuccess) [[unlikely]] { // another device's stream may have got the handle of the one before
        ignore(status);
        try {
            marker = new_marker(stream);
            status = marker->record();
        } catch (...) {
        }
    }
    if (marker) last_launch_ = std::move(marker);
    if (status == cudaSuccess) [[likely]]
        return;
    ignore(status);
    ignore(cudaStreamSynchronize(stream)); // without a mark the launch must have ended before owners may go
    last_launch_ = nullptr;
}

bool InFlight::is_running() const noexcept {
    return last_launch_ && !last_launch_->finished();
}

void InFlight::wait() const noexcept {
    if (last_launch_) last_launch_->wait();
}

void InFlight::retire_owners(OwnerVersions&& version) const noexcept {
    if (!last_launch_) {
        version.clear(); // no launch can use them
        return;
    }
    last_launch_->prepare();
    version.front().last_use = last_launch_;
    AllRetiredOwners& all = retired_owners();
    const std::scoped_lock lock(all.mutex);
    OwnerVersions& versions = last_launch_->retired().versions;
    versions.splice(versions.end(), version);
    ++all.count;
}

bool has_retired_owners() noexcept {
    return retired_owners().count.load(std::memory_order_relaxed) != 0;
}

void drop_retired_owners() noexcept {
    OwnerVersions finished;
    AllRetiredOwners& all = retired_owners();
    const std::scoped_lock lock(all.mutex); // released before `finished` dies: owners run user code
    for (auto stream = all.of_stream.begin(); stream != all.of_stream.end();) {
        OwnerVersions& versions = stream->second->versions;
        const LaunchMarker* last = nullptr;
        while (!versions.empty()) {
            const LaunchMarker* marker = versions.front().last_use.get();
            if (marker != last && !marker->finished()) break;
            last = marker;
            finished.splice(finished.end(), versions, versions.begin());
            --all.count;
        }
        const bool is_used = !versions.empty() || stream->second.use_count() != 1;
        stream = is_used ? std::next(stream) : all.of_stream.erase(stream);
    }
}

} // namespace cudag::detail
