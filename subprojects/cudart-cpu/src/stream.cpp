// Streams, and the order between them that the legacy default stream makes.
#include "stream.hpp"

#include "call.hpp"
#include "handle_table.hpp"
#include "live_counts.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace cudart_cpu::detail {

namespace {

/// The queues of all streams, also of destroyed ones with pending work. Its lock makes enqueueing one sequence over all
/// streams, so that work only ever waits for earlier work.
struct Device {
    struct Member {
        std::weak_ptr<WorkQueue> queue;
        bool blocking;
    };

    std::mutex mutex;
    std::vector<Member> members;
};

Device& device() {
    static auto* device = new Device;
    return *device;
}

struct OwnedStream {
    OwnedStream(unsigned flags, int priority) : stream(flags, priority) {}

    Stream stream;
    Counted<Kind::stream> counted;
};

using StreamTable = HandleTable<OwnedStream, cudaStream_t>;

StreamTable& streams() {
    static auto* table = new StreamTable;
    return *table;
}

Stream& legacy_stream() {
    static auto* stream = new Stream(cudaStreamDefault, 0);
    return *stream;
}

/// Ends a thread's stream with the thread. A later use, by another of the thread's destructors, makes a new stream.
Stream& per_thread_stream() {
    thread_local Stream* stream = nullptr;
    thread_local const struct Owner {
        ~Owner() { delete std::exchange(stream, nullptr); }
    } owner;
    if (stream == nullptr) {
        stream = new Stream(cudaStreamDefault, 0);
    }
    return *stream;
}

std::unique_lock<std::mutex> lock_device() {
    // Made before the lock is taken, because making a stream takes it too.
    legacy_stream();
    return std::unique_lock(device().mutex);
}

void add_if_pending(std::vector<CompletionPtr>& pending, const WorkQueue& queue) {
    CompletionPtr tail = queue.tail();
    if (tail != nullptr && !tail->finished()) {
        pending.push_back(std::move(tail));
    }
}

/// The pending tails of the streams that `choose` takes. The device must be locked.
template <class Choose>
void add_pending_members(std::vector<CompletionPtr>& pending, Choose&& choose) {
    std::vector<Device::Member>& members = device().members;
    std::erase_if(members, [](const Device::Member& member) { return member.queue.expired(); });
    for (const Device::Member& member : members) {
        if (const auto queue = member.queue.lock(); queue != nullptr && choose(member)) {
            add_if_pending(pending, *queue);
        }
    }
}

/// What an operation enqueued into `stream` now must wait for in other streams. The device must be locked.
void add_default_stream_order(std::vector<CompletionPtr>& after, const Stream& stream) {
    if (&stream == &legacy_stream()) {
        add_pending_members(after, [](const Device::Member& member) { return member.blocking; });
    } else if (stream.blocking()) {
        add_if_pending(after, legacy_stream().queue());
    }
}

/// What a synchronisation with `stream` waits for.
std::vector<CompletionPtr> pending_work(const Stream& stream) {
    std::vector<CompletionPtr> pending;
    const auto lock = lock_device();
    add_if_pending(pending, stream.queue());
    if (&stream == &legacy_stream()) {
        add_default_stream_order(pending, stream);
    }
    return pending;
}

} // namespace

Stream::Stream(unsigned flags, int priority)
    : flags_(flags), priority_(priority), queue_(std::make_shared<WorkQueue>()) {
    static std::atomic<unsigned long long> last_id{0};
    id_ = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::lock_guard lock(device().mutex);
    device().members.push_back({queue_, blocking()});
}

Stream::~Stream() {
    queue_->close();
}

cudaStream_t create_stream(unsigned flags, int priority) {
    return streams().add(std::make_shared<OwnedStream>(flags, priority));
}

void destroy_stream(cudaStream_t handle) {
    if (streams().take(handle) == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "the stream is a default stream or was destroyed");
    }
}

Stream& stream_of(cudaStream_t handle) {
    if (handle == nullptr || handle == cudaStreamLegacy) {
        return legacy_stream();
    }
    if (handle == cudaStreamPerThread) {
        return per_thread_stream();
    }
    const std::shared_ptr<OwnedStream> found = streams().find(handle);
    if (found == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "the stream does not exist or was destroyed");
    }
    return found->stream;
}

CompletionPtr enqueue(Stream& stream, std::function<void()> op, std::vector<CompletionPtr> after) {
    const auto lock = lock_device();
    add_default_stream_order(after, stream);
    return stream.queue().push(std::move(op), std::move(after));
}

bool idle(const Stream& stream) {
    return std::ranges::all_of(pending_work(stream), [](const CompletionPtr& work) { return work->finished(); });
}

void wait_for(const Stream& stream) {
    for (const CompletionPtr& work : pending_work(stream)) {
        work->wait();
    }
}

void wait_for_device() {
    std::vector<CompletionPtr> pending;
    {
        const auto lock = lock_device();
        add_pending_members(pending, [](const Device::Member&) { return true; });
    }
    for (const CompletionPtr& work : pending) {
        work->wait();
    }
}

} // namespace cudart_cpu::detail
