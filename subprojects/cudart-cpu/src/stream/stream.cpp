// Streams, and the order imposed on them by the legacy default stream.
#include "stream.hpp"

#include "runtime/call.hpp"
#include "runtime/contexts.hpp"
#include "runtime/device_model.hpp"
#include "runtime/environment.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/live_counts.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cudart_cpu::detail {

namespace {

/// The queues of all streams. The queue of a destroyed stream leaves under the lock, after its work has ended: anybody
/// who looks later comes after that work. The lock puts enqueueing over all streams in one sequence, so work only ever
/// waits for earlier work.
struct Device {
    struct Member {
        std::shared_ptr<WorkQueue> queue;
        bool blocking;
        int device;
    };

    std::mutex mutex;
    std::unordered_map<const WorkQueue*, Member> members;
};

Device& device() {
    static auto* device = new Device;
    return *device;
}

/// Removes the queue: the last act of its thread, or of a destroyed stream without pending work.
void leave_device(const WorkQueue& queue) {
    const std::lock_guard lock(device().mutex);
    device().members.erase(&queue);
}

struct OwnedStream {
    OwnedStream(unsigned flags, int priority) : stream(flags, priority, current_device()) {
        const CUcontext context = current_context();
        stream.set_context(context != nullptr ? context : primary_context(current_device()));
    }

    Stream stream;
    Counted<Kind::stream> counted;
};

using StreamTable = HandleTable<OwnedStream, cudaStream_t>;

StreamTable& streams() {
    static auto* table = new StreamTable;
    return *table;
}

/// Returns the device's legacy default stream, made on first use.
Stream& legacy_stream(int device) {
    struct Lazy {
        std::once_flag made;
        Stream* stream;
    };
    static auto* streams = new Lazy[max_devices];
    Lazy& one = streams[device];
    std::call_once(one.made, [&] { one.stream = new Stream(cudaStreamDefault, 0, device); });
    return *one.stream;
}

/// Returns the thread's stream, which ends with the thread. A later use, in another of the thread's destructors, makes
/// a new stream.
Stream& per_thread_stream(int device) {
    thread_local Stream* streams[max_devices] = {};
    thread_local const struct Owner {
        ~Owner() {
            if (is_forked_child()) {
                return;
            }
            for (Stream*& stream : streams) {
                delete std::exchange(stream, nullptr);
            }
        }
    } owner;
    Stream*& stream = streams[device];
    if (stream == nullptr) {
        stream = new Stream(cudaStreamDefault, 0, device);
    }
    return *stream;
}

thread_local bool null_is_per_thread = false;

/// The function called at each stream's end; null before the first capture.
std::atomic<void (*)(Stream&) noexcept> stream_end{nullptr};

/// Locks the device for work on `stream`.
std::unique_lock<std::mutex> lock_device(const Stream& stream) {
    // Making a stream takes the lock, so this comes first.
    legacy_stream(stream.device());
    return std::unique_lock(device().mutex);
}

void add_if_pending(std::vector<CompletionPtr>& pending, const WorkQueue& queue) {
    CompletionPtr tail = queue.tail();
    if (tail != nullptr && !tail->finished()) {
        pending.push_back(std::move(tail));
    }
}

/// Returns the pending tails of the streams accepted by `choose`. The device must be locked.
template <class Choose>
void add_pending_members(std::vector<CompletionPtr>& pending, Choose&& choose) {
    for (const auto& [queue, member] : device().members) {
        if (choose(member)) {
            add_if_pending(pending, *queue);
        }
    }
}

/// Adds the work in other streams that an operation enqueued into `stream` now must wait for. The device must be
/// locked.
void add_default_stream_order(std::vector<CompletionPtr>& after, const Stream& stream) {
    const Stream& legacy = legacy_stream(stream.device());
    if (&stream == &legacy) {
        add_pending_members(
            after, [&](const Device::Member& member) { return member.blocking && member.device == stream.device(); });
    } else if (stream.blocking()) {
        add_if_pending(after, legacy.queue());
    }
}

/// Returns the work that a synchronisation with `stream` waits for.
std::vector<CompletionPtr> pending_work(const Stream& stream) {
    std::vector<CompletionPtr> pending;
    const auto lock = lock_device(stream);
    add_if_pending(pending, stream.queue());
    if (&stream == &legacy_stream(stream.device())) {
        add_default_stream_order(pending, stream);
    }
    return pending;
}

} // namespace

Stream::Stream(unsigned flags, int priority, int device)
    : flags_(flags), priority_(priority), device_(device), queue_(std::make_shared<WorkQueue>(&leave_device)) {
    static std::atomic<unsigned long long> last_id{0};
    id_ = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
    Device& all = detail::device();
    const std::lock_guard lock(all.mutex);
    all.members.emplace(queue_.get(), Device::Member{queue_, blocking(), device});
}

Stream::~Stream() {
    if (const auto leave = stream_end.load()) leave(*this);
    queue_->close();
    if (queue_->is_idle()) {
        leave_device(*queue_); // its thread may never have started
    }
}

void set_stream_end(void (*leave)(Stream&) noexcept) noexcept {
    stream_end.store(leave);
}

cudaStream_t create_stream(unsigned flags, int priority) {
    return streams().add(std::make_shared<OwnedStream>(flags, priority));
}

void destroy_stream(cudaStream_t handle) {
    if (streams().take(handle) == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "the stream is a default stream or was destroyed");
    }
}

void destroy_streams_of(int device) {
    streams().remove_if([=](const OwnedStream& owned) { return owned.stream.device() == device; });
}

Stream& stream_of(cudaStream_t handle) {
    if (handle == nullptr) {
        handle = null_is_per_thread ? cudaStreamPerThread : cudaStreamLegacy;
    }
    if (handle == cudaStreamLegacy) {
        return legacy_stream(current_device());
    }
    if (handle == cudaStreamPerThread) {
        return per_thread_stream(current_device());
    }
    const std::shared_ptr<OwnedStream> found = streams().find(handle);
    if (found == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "the stream does not exist or was destroyed");
    }
    return found->stream;
}

PerThreadDefault::PerThreadDefault() noexcept : outer_(std::exchange(null_is_per_thread, true)) {}

PerThreadDefault::~PerThreadDefault() {
    null_is_per_thread = outer_;
}

bool is_null_per_thread() noexcept {
    return null_is_per_thread;
}

bool is_legacy(const Stream& stream) {
    return &stream == &legacy_stream(stream.device());
}

CompletionPtr enqueue(Stream& stream, std::function<void()> op, std::vector<CompletionPtr> after) {
    const auto lock = lock_device(stream);
    add_default_stream_order(after, stream);
    return stream.queue().push(std::move(op), std::move(after));
}

bool idle(const Stream& stream) {
    return std::ranges::all_of(pending_work(stream), [](const CompletionPtr& work) { return work->finished(); });
}

void wait_for(const Stream& stream) {
    note_wait(); // work that failed since the call began may have ended, too
    for (const CompletionPtr& work : pending_work(stream)) {
        work->wait();
    }
}

namespace {

template <class Choose>
void wait_for_members(Choose&& choose) {
    note_wait();
    std::vector<CompletionPtr> pending;
    {
        const std::lock_guard lock(device().mutex);
        add_pending_members(pending, choose);
    }
    for (const CompletionPtr& work : pending) {
        work->wait();
    }
}

} // namespace

void wait_for_all_devices() {
    wait_for_members([](const Device::Member&) { return true; });
}

void wait_for_device(int device) {
    wait_for_members([=](const Device::Member& member) { return member.device == device; });
}

std::function<bool()> pending_everywhere() {
    std::vector<CompletionPtr> pending;
    {
        const std::lock_guard lock(device().mutex);
        add_pending_members(pending, [](const Device::Member&) { return true; });
    }
    if (pending.empty()) return nullptr;
    return [pending = std::move(pending)] {
        return !std::ranges::all_of(pending, [](const CompletionPtr& work) { return work->finished(); });
    };
}

} // namespace cudart_cpu::detail
