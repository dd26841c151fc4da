// The transfer of host failures between CUDA's threads and the user's, and their launches.
#include "host_call.hpp"

#include "cuda/failure.hpp"
#include "cuda/stream_status.hpp"

#include <cudag/detail/stream_mark.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <list>
#include <mutex>
#include <utility>

namespace cudag::detail {

namespace {

/// A host failure not reported yet.
struct Waiting {
    HostFailure failure;
    std::shared_ptr<HostClaim> claim;
    const HostLaunches* launches; ///< only compared, never dereferenced
    std::uint64_t number;         ///< of the launch
    std::optional<HostLaunches::Place> place;

    /// Whether nobody can request it any longer.
    [[nodiscard]] bool is_lost() const noexcept { return claim->gone && (!place || place->stream_gone); }
};

/// The host failures of all launches. Never destroyed: a host node may still run at the end of the process.
struct Exceptions {
    std::mutex mutex;
    std::list<Waiting> waiting; ///< in the order of the exceptions
    std::vector<HostLaunches*> launches;
    std::uint64_t last_order = 0;
    std::size_t unplaced = 0;               ///< number of waiting failures without a place
    std::atomic<bool> any = false;          ///< whether any failure waits
    std::atomic<bool> any_launched = false; ///< whether a launch with host nodes was ever made
};

Exceptions& exceptions() {
    static auto* all = new Exceptions;
    return *all;
}

StreamKey key_of(cudaStream_t stream) noexcept {
    unsigned long long id = 0;
    const cudaError_t status = cudaStreamGetId(stream, &id);
    ignore(status);
    return {stream, status == cudaSuccess ? std::optional(id) : std::nullopt};
}

/// Prints a failure that can no longer be reported.
void print(const HostFailure& failure, const char* why) noexcept {
    try {
        const HostError error(Passkey(), std::make_shared<const std::vector<HostFailure>>(1, failure));
        std::fprintf(stderr, "%s; %s\n", error.what(), why);
    } catch (...) {
        std::fprintf(stderr, "cudag: a host node threw; %s\n", why);
    }
}

constexpr const char* nobody_left = "its Exec and its stream are gone, so no synchronisation throws it";

/// Takes the failures chosen by `choose`. Destroy them without the lock: destructors of exceptions are user code.
template <class Choose>
std::list<Waiting> take(Exceptions& all, const Choose& choose) noexcept {
    std::list<Waiting> taken;
    for (auto one = all.waiting.begin(); one != all.waiting.end();) {
        const auto next = std::next(one);
        if (choose(*one)) {
            if (!one->place) --all.unplaced;
            taken.splice(taken.end(), all.waiting, one);
        }
        one = next;
    }
    all.any = !all.waiting.empty();
    return taken;
}

std::list<Waiting> take_lost(Exceptions& all) noexcept {
    return take(all, [](const Waiting& one) { return one.is_lost(); });
}

void print(const std::list<Waiting>& lost) noexcept {
    for (const Waiting& one : lost)
        print(one.failure, nobody_left);
}

void note(const HostRun& run, std::uint64_t number) noexcept {
    try {
        std::list<Waiting> one;
        one.push_back({{run.node, run.label, run.location, std::current_exception()},
                       nullptr,
                       run.launches.get(),
                       number,
                       std::nullopt});
        Exceptions& all = exceptions();
        {
            const std::scoped_lock lock(all.mutex);
            one.front().claim = run.launches->claim();
            one.front().place = run.launches->find(number);
            if (!one.front().is_lost()) {
                if (!one.front().place) ++all.unplaced;
                all.waiting.splice(all.waiting.end(), one);
                all.any = true;
            }
        }
        print(one);
    } catch (...) {
        std::fputs("cudag: a host node threw, and there is no memory to keep what\n", stderr);
    }
}

/// Throws the failures chosen by `choose`, if any, as one.
template <class Choose>
void rethrow_chosen(const Choose& choose) {
    Exceptions& all = exceptions();
    std::shared_ptr<std::vector<HostFailure>> failures;
    std::list<Waiting> taken;
    {
        const std::scoped_lock lock(all.mutex);
        const auto count = std::count_if(all.waiting.begin(), all.waiting.end(), choose);
        if (count == 0) return;
        failures = std::make_shared<std::vector<HostFailure>>();
        failures->reserve(static_cast<std::size_t>(count));
        for (const Waiting& one : all.waiting)
            if (choose(one)) failures->push_back(one.failure);
        taken = take(all, choose);
    }
    try {
        std::rethrow_exception(failures->front().exception);
    } catch (...) {
        throw HostError(Passkey(), std::move(failures));
    }
}

[[nodiscard]] bool none_waits() noexcept {
    return !exceptions().any.load(std::memory_order_acquire);
}

} // namespace

void CUDART_CB run_host_task(void* task) noexcept {
    const auto& host = *static_cast<const HostTask*>(task);
    try {
        host.run(host.callable.get());
    } catch (...) {
        try {
            print({"host node", {}, {}, std::current_exception()},
                  "its graph was instantiated without cudag, so no synchronisation throws it");
        } catch (...) {
            std::fputs("cudag: a host node threw\n", stderr);
        }
    }
}

void CUDART_CB run_host_node(void* run) noexcept {
    auto& host = *static_cast<HostRun*>(run);
    const std::uint64_t number = host.launch.load(std::memory_order_acquire) + 1;
    try {
        host.task->run(host.task->callable.get());
    } catch (...) {
        note(host, number);
    }
    host.launch.store(number, std::memory_order_release);
    host.launches->note_run(number); // last: its launch must stay findable until then
}

HostLaunches::HostLaunches(std::shared_ptr<HostClaim> claim) : claim_(std::move(claim)) {
    Exceptions& all = exceptions();
    const std::scoped_lock lock(all.mutex);
    all.launches.push_back(this);
}

HostLaunches::~HostLaunches() {
    Exceptions& all = exceptions();
    const std::scoped_lock lock(all.mutex);
    std::erase(all.launches, this);
    for (Waiting& one : all.waiting)
        if (one.launches == this) one.launches = nullptr;
}

std::uint64_t HostLaunches::count() noexcept {
    count_ = std::max(count_, run_.load(std::memory_order_acquire)); // launches through native() have run nodes, too
    return count_;
}

void HostLaunches::note_run(std::uint64_t number) noexcept {
    std::uint64_t last = run_.load(std::memory_order_relaxed);
    while (last < number && !run_.compare_exchange_weak(last, number, std::memory_order_release))
        ;
}

void HostLaunches::prepare() {
    static_cast<void>(count());
    if (launches_.size() < launches_.capacity()) return;
    const std::uint64_t run = run_.load(std::memory_order_acquire);
    Exceptions& all = exceptions();
    const std::scoped_lock lock(all.mutex);
    std::erase_if(launches_, [&](const Launch& launch) { return launch.number < run; });
    if (2 * launches_.size() >= launches_.capacity())
        launches_.reserve(std::max<std::size_t>(16, 2 * launches_.capacity()));
}

void HostLaunches::launched(const StreamKey& stream) noexcept {
    Exceptions& all = exceptions();
    const std::scoped_lock lock(all.mutex);
    all.any_launched.store(true, std::memory_order_relaxed);
    const Place place{stream, ++all.last_order};
    launches_.push_back({++count_, place});
    if (all.unplaced == 0) return;
    for (Waiting& one : all.waiting) // thrown before this launch was recorded
        if (one.launches == this && one.number == count_ && !one.place) {
            one.place = place;
            --all.unplaced;
        }
}

std::optional<HostLaunches::Place> HostLaunches::find(std::uint64_t number) const noexcept {
    const auto found = std::lower_bound(launches_.begin(), launches_.end(), number,
                                        [](const Launch& launch, std::uint64_t n) { return launch.number < n; });
    return found != launches_.end() && found->number == number ? std::optional(found->place) : std::nullopt;
}

void HostLaunches::note_gone(cudaStream_t stream) noexcept {
    for (Launch& launch : launches_)
        if (launch.place.stream.handle == stream) launch.place.stream_gone = true; // a former stream is gone, too
}

void rethrow_host_failures(cudaStream_t stream) {
    if (none_waits()) return;
    const StreamKey key = key_of(stream);
    rethrow_chosen([&](const Waiting& one) { return one.place && one.place->stream.is(key); });
}

void rethrow_host_failures(const StreamMark& mark) {
    if (mark.order == 0 || none_waits()) return;
    const StreamKey key{mark.stream, mark.id};
    rethrow_chosen(
        [&](const Waiting& one) { return one.place && one.place->stream.is(key) && one.place->order <= mark.order; });
}

void rethrow_host_failures(const std::shared_ptr<HostClaim>& claim) {
    if (none_waits()) return;
    rethrow_chosen([&](const Waiting& one) { return one.claim == claim; });
}

StreamKey launch_target(cudaStream_t stream) {
    if (is_captured(stream)) return {stream}; // a query of the id would break it
    unsigned long long id = 0;
    checked(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    return {stream, id};
}

StreamMark mark_stream(cudaStream_t stream) {
    Exceptions& all = exceptions();
    if (!all.any_launched.load(std::memory_order_relaxed)) return {};
    const StreamKey key = launch_target(stream);
    if (!key.id) return {}; // in a capture it marks a place in a graph
    const std::scoped_lock lock(all.mutex);
    return {stream, *key.id, all.last_order};
}

void claim_gone(const std::shared_ptr<HostClaim>& claim) noexcept {
    std::list<Waiting> lost;
    {
        Exceptions& all = exceptions();
        const std::scoped_lock lock(all.mutex);
        claim->gone = true;
        lost = take_lost(all);
    }
    print(lost);
}

void stream_gone(cudaStream_t stream) noexcept {
    Exceptions& all = exceptions();
    if (!all.any_launched.load(std::memory_order_relaxed)) return;
    std::list<Waiting> lost;
    {
        const std::scoped_lock lock(all.mutex);
        for (HostLaunches* launches : all.launches)
            launches->note_gone(stream);
        for (Waiting& one : all.waiting)
            if (one.place && one.place->stream.handle == stream) one.place->stream_gone = true;
        lost = take_lost(all);
    }
    print(lost);
}

} // namespace cudag::detail
