// Clocks of all Streams, and the events that advance them.
#include "stream_clock.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/progress.hpp"
#include "cuda/stream_status.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

/// The clocks of all Streams. Never destroyed: Streams may be destroyed at the end of the process.
struct Clocks {
    std::mutex mutex;
    std::unordered_map<cudaStream_t, std::shared_ptr<StreamClock>> of_stream;
};

Clocks& clocks() {
    static auto* all = new Clocks;
    return *all;
}

} // namespace

std::shared_ptr<StreamClock> StreamClock::of(cudaStream_t stream) noexcept {
    Clocks& all = clocks();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.of_stream.find(stream);
    return found == all.of_stream.end() ? nullptr : found->second;
}

void StreamClock::open(cudaStream_t stream) {
    auto clock = std::make_shared<StreamClock>(stream);
    Clocks& all = clocks();
    const std::scoped_lock lock(all.mutex);
    all.of_stream.insert_or_assign(stream, std::move(clock));
}

void StreamClock::close(cudaStream_t stream) noexcept {
    std::shared_ptr<StreamClock> clock;
    Clocks& all = clocks();
    {
        const std::scoped_lock lock(all.mutex);
        const auto found = all.of_stream.find(stream);
        if (found == all.of_stream.end()) return;
        clock = std::move(found->second);
        all.of_stream.erase(found);
    }
    clock->finish();
}

void StreamClock::finish() noexcept {
    const std::uint64_t launches = now();
    mark(launches);
    is_closed_ = true;
    {
        const std::scoped_lock lock(mutex_);
        if (reached_ >= launches || (!marks_.empty() && marks_.back().number >= launches) || is_captured()) return;
    }
    // Nothing could be recorded, and nothing can be from now on.
    ignore(cudaStreamSynchronize(stream_));
    reach(launches);
}

void StreamClock::mark(std::uint64_t number) noexcept {
    if (reached_.load(std::memory_order_acquire) >= number) return;
    const std::scoped_lock lock(mutex_);
    try {
        mark_now(number);
    } catch (...) { // the next query tries again
    }
}

bool StreamClock::has_reached(std::uint64_t number) noexcept {
    if (reached_.load(std::memory_order_acquire) >= number) return true;
    const std::scoped_lock lock(mutex_);
    look();
    try {
        mark_now(number);
    } catch (...) {
    }
    return reached_.load(std::memory_order_relaxed) >= number;
}

void StreamClock::wait_for(std::uint64_t number) noexcept {
    if (has_reached(number)) return; // otherwise it is marked now
    SharedEvent event;
    {
        const std::scoped_lock lock(mutex_);
        const auto mark = std::ranges::find_if(marks_, [&](const Mark& each) { return each.number >= number; });
        if (mark == marks_.end()) return;
        event = mark->event;
    }
    ignore(cudaEventSynchronize(event.get()));
    reach(number);
}

void StreamClock::reach(std::uint64_t number) noexcept {
    const std::scoped_lock lock(mutex_);
    note(number);
    drop_reached();
}

bool StreamClock::is_captured() const noexcept {
    return find_capture_status(stream_) != cudaStreamCaptureStatusNone;
}

/// Call with the lock. Discards an event recorded into another thread's capture: it shows nothing about launches.
void StreamClock::mark_now(std::uint64_t number) {
    if (!is_open() || reached_ >= number || (!marks_.empty() && marks_.back().number >= number)) return;
    if (is_captured()) return;
    const DeviceGuard device(stream_);
    cudaEvent_t event = nullptr;
    checked(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    Mark mark{now(), SharedEvent(UniqueEvent(event))};
    const cudaError_t status = cudaEventRecord(event, stream_);
    ignore(status);
    if (status == cudaSuccess && !is_captured()) marks_.push_back(std::move(mark));
}

/// Call with the lock. Takes up the ends recorded by CUDA.
void StreamClock::look() noexcept {
    while (!marks_.empty()) {
        const Progress progress = progress_of(marks_.front().event.get());
        if (progress == Progress::running) return;
        if (progress == Progress::done) note(marks_.front().number);
        marks_.pop_front();
    }
}

/// Call with the lock.
void StreamClock::drop_reached() noexcept {
    while (!marks_.empty() && marks_.front().number <= reached_)
        marks_.pop_front();
}

void StreamClock::note(std::uint64_t number) noexcept {
    if (reached_ < number) reached_ = number;
}

} // namespace cudag::detail
