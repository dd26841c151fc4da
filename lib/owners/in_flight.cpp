// Launch markers, and the owners that wait for them.
#include "in_flight.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/never_destroyed.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/progress.hpp"
#include "cuda/stream_status.hpp"
#include "stream_clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

/// Retired owners last used in one stream, whose launches end in order. A later stream with the same handle queues
/// behind it. Its owners may be dropped late, never early, since each marker is checked.
struct RetiredOwners {
    OwnerVersions versions;
};

/// All retired owners. Never destroyed: at the end of the process there is no CUDA to free into.
struct AllRetiredOwners {
    std::mutex mutex;
    std::unordered_map<cudaStream_t, std::shared_ptr<RetiredOwners>> of_stream;
    RetiredOwners ended;                ///< of execs with a marked end, unordered
    std::atomic<std::size_t> count = 0; ///< number of versions
};

AllRetiredOwners& retired_owners() noexcept {
    return never_destroyed<AllRetiredOwners>();
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

/// The mark of a launch: by the clock of its stream or, if it has none, by its own event.
class LaunchMarker {
  public:
    /// For the end of an exec on `device` with unmarked launches.
    explicit LaunchMarker(int device) noexcept : device_(device) {}
    ~LaunchMarker() = default;
    LaunchMarker(const LaunchMarker&) = delete;
    LaunchMarker& operator=(const LaunchMarker&) = delete;

    LaunchMarker(cudaStream_t stream, std::shared_ptr<StreamClock> clock)
        : stream_(stream), retired_(retired_owners_of(stream)), clock_(std::move(clock)) {}
    /// For a launch in `stream`, whose device is current.
    explicit LaunchMarker(cudaStream_t stream) : stream_(stream), retired_(retired_owners_of(stream)) {
        checked(cudaGetDevice(&device_), "cudaGetDevice");
        event_ = new_event();
    }

    /// Whether it can mark another launch in `stream`.
    [[nodiscard]] bool is_of(cudaStream_t stream) const noexcept {
        return stream_ == stream && (clock_ == nullptr || clock_->is_open());
    }
    [[nodiscard]] RetiredOwners& retired() const noexcept {
        return retired_ != nullptr ? *retired_ : retired_owners().ended;
    }
    /// Whether it has an event of `device`.
    [[nodiscard]] bool has_event_of(int device) const noexcept { return event_ != nullptr && device_ == device; }
    /// Moves the marker to a launch in another stream of its event's device.
    void move_to(cudaStream_t stream) {
        retired_ = retired_owners_of(stream);
        stream_ = stream;
    }

    /// Records an enqueued launch.
    [[nodiscard]] cudaError_t record() noexcept {
        if (clock_ == nullptr) return cudaEventRecord(event_.get(), stream_);
        number_ = clock_->tick();
        return cudaSuccess;
    }
    /// Prepares for queries of the launch's end.
    void prepare() const noexcept {
        if (clock_ != nullptr) clock_->mark(number_);
    }
    [[nodiscard]] bool finished() noexcept {
        if (clock_ != nullptr) return clock_->has_reached(number_);
        if (event_ == nullptr && !mark_end(exec_.get())) return false;
        return progress_of(event_.get()) != Progress::running;
    }
    void wait() const noexcept {
        if (clock_ != nullptr) return clock_->wait_for(number_);
        ignore(cudaEventSynchronize(event_.get()));
    }

    /// Marks all launches of `exec`, which must not be launched any longer. Returns false if that is impossible now:
    /// the marker then owns the exec and tries again when queried.
    [[nodiscard]] bool end(cudaGraphExec_t exec) noexcept {
        if (mark_end(exec)) return true;
        exec_.reset(exec);
        return false;
    }

  private:
    /// Marks the end by an upload: CUDA orders an upload behind all earlier launches of its exec, in any stream.
    /// Nothing else is known about these streams, not even their existence. Fails without memory, or while memory
    /// allocated by the exec is not freed.
    [[nodiscard]] bool mark_end(cudaGraphExec_t exec) noexcept {
        try {
            const DeviceGuard device(device_);
            UniqueEvent event = new_event();
            cudaStream_t made = nullptr;
            checked(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
            const UniqueStream stream(made); // CUDA destroys it after the upload
            checked(cudaGraphUpload(exec, made), "cudaGraphUpload");
            checked(cudaEventRecord(event.get(), made), "cudaEventRecord");
            event_ = std::move(event);
            return true;
        } catch (...) {
            return false;
        }
    }
    [[nodiscard]] static UniqueEvent new_event() {
        cudaEvent_t event = nullptr;
        checked(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        return UniqueEvent(event);
    }

    cudaStream_t stream_ = nullptr;
    std::shared_ptr<RetiredOwners> retired_;
    std::shared_ptr<StreamClock> clock_;
    std::uint64_t number_ = 0;
    int device_ = 0;
    UniqueEvent event_;
    UniqueExec exec_; ///< an exec whose end could not be marked at once
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

void InFlight::begin_tracking_end() {
    end_ = std::make_shared<LaunchMarker>(device_);
    if (marking_ == Marking::off) marking_ = Marking::at_end;
}

void InFlight::note_handed_out() {
    if (is_handed_out_.load(std::memory_order_acquire)) return;
    const std::scoped_lock lock(retired_owners().mutex);
    if (!end_) end_ = std::make_shared<LaunchMarker>(device_);
    is_handed_out_.store(true, std::memory_order_release);
}

LaunchMark InFlight::mark(cudaStream_t stream) {
    const bool reusable = last_launch_ && last_launch_.use_count() == 1;
    if (reusable && last_launch_->is_of(stream)) [[likely]]
        return {};
    const bool is_left_to_end = marking_ == Marking::at_end;
    if (is_left_to_end && is_unmarked_ && stream == unmarked_stream_) [[likely]]
        return {nullptr, true}; // even if another Stream has the handle now
    if (auto clock = StreamClock::of(stream)) return {std::make_shared<LaunchMarker>(stream, std::move(clock))};
    if (is_left_to_end) return {nullptr, true};
    // A captured stream's device cannot be queried; the launch fails with the reason.
    if (is_captured(stream)) return {std::make_shared<LaunchMarker>(stream)};
    if (reusable && last_launch_->has_event_of(device_of(stream))) {
        last_launch_->move_to(stream);
        return {};
    }
    return {new_marker(stream)};
}

void InFlight::launched(LaunchMark&& mark, cudaStream_t stream) noexcept {
    is_unmarked_ = mark.is_left_to_end;
    if (mark.is_left_to_end) {
        unmarked_stream_ = stream;
        return;
    }
    std::shared_ptr<LaunchMarker>& marker = mark.fresh;
    cudaError_t status = (marker ? *marker : *last_launch_).record();
    if (status != cudaSuccess) [[unlikely]] { // the handle may have passed to a stream of another device
        ignore(status);
        try {
            marker = new_marker(stream);
            status = marker->record();
        } catch (...) {
        }
    }
    if (marker) last_launch_ = std::move(marker);
    if (status != cudaSuccess) [[unlikely]] {
        ignore(status);
        ignore(cudaStreamSynchronize(stream)); // without a mark, the launch must end before owners may be dropped
        last_launch_ = nullptr;
    }
    if (!held_.empty()) [[unlikely]]
        wait_for_last(held_);
}

bool InFlight::is_running() const noexcept {
    return last_launch_ && !last_launch_->finished();
}

void InFlight::wait() const noexcept {
    if (last_launch_) last_launch_->wait();
}

bool InFlight::end(cudaGraphExec_t exec, bool is_kept) noexcept {
    const bool is_marked = !is_unmarked_ && !is_handed_out_.load(std::memory_order_relaxed);
    if (is_marked || (!is_kept && held_.empty())) return true;
    is_handed_out_.store(false, std::memory_order_relaxed); // `retire` no longer holds anything
    last_launch_ = std::move(end_);
    const bool is_callers = last_launch_->end(exec);
    if (!held_.empty()) wait_for_last(held_);
    return is_callers;
}

void InFlight::retire_owners(OwnerVersions&& version) noexcept {
    if (is_handed_out_.load(std::memory_order_relaxed))
        held_.splice(held_.end(), version);
    else
        wait_for_last(version);
}

void InFlight::wait_for_last(OwnerVersions& versions) const noexcept {
    if (!last_launch_) {
        const NoWaiting no_waiting; // callers of retire that may wait reclaim
        versions.clear();           // no launch can use them
        return;
    }
    last_launch_->prepare();
    for (OwnerVersion& version : versions)
        version.last_use = last_launch_;
    AllRetiredOwners& all = retired_owners();
    const std::scoped_lock lock(all.mutex);
    OwnerVersions& retired = last_launch_->retired().versions;
    all.count += versions.size();
    retired.splice(retired.end(), versions);
}

namespace {

/// Queries at most a few launches in flight, and different ones the next time.
void drop_ended(AllRetiredOwners& all, OwnerVersions& finished) noexcept {
    constexpr unsigned most = 16;
    OwnerVersions& versions = all.ended.versions;
    LaunchMarker* last = nullptr;
    bool has_finished = false;
    unsigned running = 0;
    for (std::size_t left = versions.size(); left != 0 && running != most; --left) {
        const auto version = versions.begin();
        if (LaunchMarker* const marker = version->last_use.get(); marker != last) {
            last = marker;
            has_finished = marker->finished();
            if (!has_finished) ++running;
        }
        if (has_finished) {
            finished.splice(finished.end(), versions, version);
            --all.count;
        } else {
            versions.splice(versions.end(), versions, version);
        }
    }
}

} // namespace

bool has_retired_owners() noexcept {
    return retired_owners().count.load(std::memory_order_relaxed) != 0;
}

void drop_retired_owners() noexcept {
    OwnerVersions finished;
    AllRetiredOwners& all = retired_owners();
    const std::scoped_lock lock(all.mutex); // released before `finished` is destroyed: owners run user code
    for (auto stream = all.of_stream.begin(); stream != all.of_stream.end();) {
        OwnerVersions& versions = stream->second->versions;
        LaunchMarker* last = nullptr;
        while (!versions.empty()) {
            LaunchMarker* const marker = versions.front().last_use.get();
            if (marker != last && !marker->finished()) break;
            last = marker;
            finished.splice(finished.end(), versions, versions.begin());
            --all.count;
        }
        const bool is_used = !versions.empty() || stream->second.use_count() != 1;
        stream = is_used ? std::next(stream) : all.of_stream.erase(stream);
    }
    drop_ended(all, finished);
}

} // namespace cudag::detail
