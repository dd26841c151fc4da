// A stand-in for NCCL on the CPU runtime: the functions that cudag calls, for a few ranks, of one process or of several
// on one machine. As NCCL does, it keeps the addresses of buffers in structures of its own, captures event nodes, and
// waits for captured graphs.
#include "standin.hpp"
#include "standin_kernels.hpp"

#include <cudag/detail/kernel_call.hpp>
#include <nccl/nccl_library.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using cudag::nccl::detail::IdBytes;
using standin::Work;

namespace {

enum Result { success = 0, cuda_error = 1, invalid_argument = 4, invalid_usage = 5 };

constexpr int most_works = 64;

template <class T>
T* shared(std::size_t count) {
    void* memory = nullptr;
    if (cudaMallocManaged(&memory, count * sizeof(T), cudaMemAttachGlobal) != cudaSuccess) std::abort();
    return static_cast<T*>(memory);
}

/// The memory that all ranks of a communicator share: a file that has no name once all have joined.
struct Clique {
    Clique(const std::string& name, int ranks) : file(std::filesystem::temp_directory_path() / name) {
        const int opened = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (opened < 0 || ftruncate(opened, sizeof(standin::Meeting)) != 0) std::abort();
        void* const memory = mmap(nullptr, sizeof(standin::Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
        close(opened);
        if (memory == MAP_FAILED || cudaHostRegister(memory, sizeof(standin::Meeting), cudaHostRegisterPortable) != 0)
            std::abort();
        meeting = static_cast<standin::Meeting*>(memory);
        meeting->ranks = ranks;
    }
    ~Clique() {
        forget_name();
        cudaHostUnregister(meeting);
        munmap(meeting, sizeof(standin::Meeting));
    }
    Clique(const Clique&) = delete;
    Clique& operator=(const Clique&) = delete;

    /// Waits for the other ranks; false if they do not come.
    [[nodiscard]] bool join() const {
        __atomic_add_fetch(&meeting->joined, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < 60'000; ++i) {
            if (__atomic_load_n(&meeting->joined, __ATOMIC_SEQ_CST) == meeting->ranks) {
                forget_name();
                return true;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }
    void forget_name() const { unlink(file.c_str()); }

    std::filesystem::path file;
    standin::Meeting* meeting = nullptr;
};

struct DeviceHere {
    explicit DeviceHere(int device) {
        cudaGetDevice(&before);
        cudaSetDevice(device);
    }
    ~DeviceHere() { cudaSetDevice(before); }
    DeviceHere(const DeviceHere&) = delete;
    DeviceHere& operator=(const DeviceHere&) = delete;
    int before = 0;
};

} // namespace

namespace {

std::atomic<int> living{0};
std::atomic<bool> hides_ranks{false};

} // namespace

int standin::communicators() {
    return living;
}
void standin::hide_ranks(bool are_hidden) {
    hides_ranks = are_hidden;
}

struct ncclComm {
    ncclComm(std::shared_ptr<Clique> with, int its_rank) : clique(std::move(with)), rank(its_rank) {
        ++living;
        cudaGetDevice(&device);
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        works = shared<Work>(most_works);
        scratch = shared<unsigned char>(most_works * standin::most_bytes);
        for (int i = 0; i < most_works; ++i)
            free.push_back(works + i);
    }
    ~ncclComm() {
        --living;
        cudaEventDestroy(event);
        cudaFree(works);
        cudaFree(scratch);
    }
    ncclComm(const ncclComm&) = delete;
    ncclComm& operator=(const ncclComm&) = delete;

    Work* take() {
        std::unique_lock lock(mutex);
        if (!changed.wait_for(lock, std::chrono::seconds(10), [this] { return !free.empty(); }))
            std::abort(); // more graphs at a time than the tests have
        Work* work = free.back();
        free.pop_back();
        *work = Work();
        work->meeting = clique->meeting;
        work->rank = rank;
        work->scratch = scratch + static_cast<std::size_t>(work - works) * standin::most_bytes;
        return work;
    }
    /// Waits until no captured graph is left. A graph that stays would make NCCL wait for ever.
    bool wait_for_graphs() {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(10), [this] { return graphs == 0; });
    }

    std::shared_ptr<Clique> clique;
    int rank;
    int device = 0;
    cudaEvent_t event = nullptr;
    Work* works = nullptr;
    unsigned char* scratch = nullptr;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Work*> free;
    int graphs = 0;
};

namespace {

/// A call that waits for the end of its group.
struct Call {
    ncclComm* comm;
    cudaStream_t stream;
    Work work;
};
thread_local int group_depth = 0;
thread_local std::vector<Call> group;
std::string last_error;

/// The work of a call in a stream.
struct Enqueued {
    ncclComm* comm;
    Work* work;
};

void CUDART_CB give_back(void* pointer) {
    const std::unique_ptr<Enqueued> done(static_cast<Enqueued*>(pointer));
    const std::lock_guard lock(done->comm->mutex);
    done->comm->free.push_back(done->work);
    done->comm->changed.notify_all();
}

/// The work of one captured graph.
struct Captured {
    ncclComm* comm;
    Work* work;
    static void release(void* pointer) {
        const std::unique_ptr<Captured> captured(static_cast<Captured*>(pointer));
        const std::lock_guard lock(captured->comm->mutex);
        captured->comm->free.push_back(captured->work);
        --captured->comm->graphs;
        captured->comm->changed.notify_all();
    }
};

int fail(const char* text) {
    last_error = text;
    return cuda_error;
}

int launch(const Call& call) {
    const DeviceHere here(call.comm->device);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
    if (cudaStreamGetCaptureInfo(call.stream, &status, nullptr, &graph, nullptr, nullptr, nullptr) != cudaSuccess)
#else
    if (cudaStreamGetCaptureInfo_v2(call.stream, &status, nullptr, &graph, nullptr, nullptr) != cudaSuccess)
#endif
        return fail("the stream cannot be asked");
    const bool captured = status == cudaStreamCaptureStatusActive;
    Work* work = call.comm->take();
    unsigned char* const scratch = work->scratch;
    *work = call.work;
    work->meeting = call.comm->clique->meeting;
    work->rank = call.comm->rank;
    work->scratch = scratch;
    if (captured) {
        cudaUserObject_t object = nullptr;
        {
            const std::lock_guard lock(call.comm->mutex);
            ++call.comm->graphs;
        }
        if (cudaUserObjectCreate(&object, new Captured{call.comm, work}, &Captured::release, 1,
                                 cudaUserObjectNoDestructorSync) != cudaSuccess ||
            cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) != cudaSuccess)
            return fail("the graph takes no user object");
    }
    if (cudaStreamWaitEvent(call.stream, call.comm->event, captured ? cudaEventWaitExternal : 0) != cudaSuccess)
        return fail("the stream cannot wait");
    void* arguments[] = {&work};
    const auto* kernel =
        cudag::detail::kernel_symbol(call.work.kind == standin::messages ? standin_messages : standin_collective);
    if (cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, call.stream) != cudaSuccess)
        return fail("the kernel is refused");
    if (!captured && cudaLaunchHostFunc(call.stream, &give_back, new Enqueued{call.comm, work}) != cudaSuccess)
        return fail("the stream takes no host function");
    if (cudaEventRecordWithFlags(call.comm->event, call.stream, captured ? cudaEventRecordExternal : 0) != cudaSuccess)
        return fail("the event is refused");
    return success;
}

int end_group() {
    std::vector<Call> calls;
    calls.swap(group);
    std::map<std::pair<ncclComm*, cudaStream_t>, Call> messages;
    for (const Call& call : calls) {
        if (call.work.kind != standin::messages) {
            if (const int result = launch(call); result != success) return result;
            continue;
        }
        const auto [place, added] = messages.try_emplace({call.comm, call.stream}, call);
        if (!added) place->second.work.list[place->second.work.listed++] = call.work.list[0];
    }
    for (const auto& each : messages)
        if (const int result = launch(each.second); result != success) return result;
    return success;
}

int enqueue(ncclComm* comm, cudaStream_t stream, const Work& work) {
    group.push_back({comm, stream, work});
    return group_depth > 0 ? success : end_group();
}

int collective(standin::Kind kind, const void* in, void* out, std::size_t count, int type, int reduction, int root,
               ncclComm* comm, cudaStream_t stream) {
    const bool is_of_all = kind == standin::all_gather || kind == standin::reduce_scatter;
    if (count * static_cast<std::size_t>(is_of_all ? comm->clique->meeting->ranks : 1) >
        standin::most_bytes / sizeof(double)) {
        last_error = "the stand-in has no room for so many elements";
        return invalid_argument;
    }
    if (type != 2 && type != 7 && type != 8) {
        last_error = "the stand-in has int, float and double only";
        return invalid_argument;
    }
    Work work{};
    work.kind = kind;
    work.in = in;
    work.out = out;
    work.count = count;
    work.type = type;
    work.reduction = reduction;
    work.root = root;
    return enqueue(comm, stream, work);
}

int message(void* data, std::size_t count, int type, int peer, bool is_send, ncclComm* comm, cudaStream_t stream) {
    if (count * (type == 8 ? 8U : 4U) > standin::most_message_bytes) {
        last_error = "the stand-in has no room for so long a message";
        return invalid_argument;
    }
    Work work{};
    work.kind = standin::messages;
    work.list[0] = {data, count * (type == 8 ? 8U : 4U), peer, is_send ? 1 : 0};
    work.listed = 1;
    return enqueue(comm, stream, work);
}

std::string new_name() {
    static std::atomic<int> next{0};
    return "cudag-nccl-standin-" + std::to_string(getpid()) + '-' + std::to_string(++next);
}

} // namespace

#define STANDIN extern "C" __attribute__((visibility("default")))

STANDIN int ncclGetVersion(int* version) {
    *version = 22803;
    return success;
}
STANDIN const char* ncclGetErrorString(int result) {
    return result == invalid_argument ? "invalid argument" : "unhandled cuda error";
}
STANDIN const char* ncclGetLastError(ncclComm*) {
    return last_error.c_str();
}
STANDIN int ncclGetUniqueId(IdBytes* id) {
    std::memset(id, 0, sizeof *id);
    const std::string text = new_name();
    std::memcpy(id->bytes, text.data(), text.size());
    return success;
}
STANDIN int ncclCommInitRank(ncclComm** comm, int ranks, IdBytes id, int rank) {
    auto clique = std::make_shared<Clique>(id.bytes, ranks);
    if (!clique->join()) return fail("a rank has not joined within a minute");
    *comm = new ncclComm(std::move(clique), rank);
    return success;
}
STANDIN int ncclCommInitAll(ncclComm** comms, int count, const int* devices) {
    const auto clique = std::make_shared<Clique>(new_name(), count);
    clique->forget_name();
    for (int rank = 0; rank < count; ++rank) {
        const DeviceHere here(devices[rank]);
        comms[rank] = new ncclComm(clique, rank);
    }
    return success;
}
STANDIN int ncclCommDestroy(ncclComm* comm) {
    const bool ended = comm->wait_for_graphs();
    if (!ended) return fail("a captured graph is left");
    delete comm;
    return success;
}
STANDIN int ncclCommAbort(ncclComm* comm) {
    __atomic_store_n(&comm->clique->meeting->aborted, 1U, __ATOMIC_SEQ_CST);
    return ncclCommDestroy(comm);
}
STANDIN int ncclCommGetAsyncError(ncclComm* comm, int* result) {
    *result = __atomic_load_n(&comm->clique->meeting->aborted, __ATOMIC_SEQ_CST) == 0 ? 0 : 6;
    return success;
}
STANDIN int ncclCommCount(ncclComm* comm, int* count) {
    if (hides_ranks) return fail("the ranks are hidden");
    *count = comm->clique->meeting->ranks;
    return success;
}
STANDIN int ncclCommCuDevice(ncclComm* comm, int* device) {
    *device = comm->device;
    return success;
}
STANDIN int ncclCommUserRank(ncclComm* comm, int* rank) {
    *rank = comm->rank;
    return success;
}
STANDIN int ncclCommRegister(ncclComm*, void* data, std::size_t, void** handle) {
    *handle = data;
    return success;
}
STANDIN int ncclCommDeregister(ncclComm*, void*) {
    return success;
}
STANDIN int ncclAllReduce(const void* in, void* out, std::size_t count, int type, int reduction, ncclComm* comm,
                          cudaStream_t stream) {
    return collective(standin::all_reduce, in, out, count, type, reduction, 0, comm, stream);
}
STANDIN int ncclReduce(const void* in, void* out, std::size_t count, int type, int reduction, int root, ncclComm* comm,
                       cudaStream_t stream) {
    return collective(standin::reduce, in, out, count, type, reduction, root, comm, stream);
}
STANDIN int ncclBroadcast(const void* in, void* out, std::size_t count, int type, int root, ncclComm* comm,
                          cudaStream_t stream) {
    return collective(standin::broadcast, in, out, count, type, 0, root, comm, stream);
}
STANDIN int ncclAllGather(const void* in, void* out, std::size_t count, int type, ncclComm* comm, cudaStream_t stream) {
    return collective(standin::all_gather, in, out, count, type, 0, 0, comm, stream);
}
STANDIN int ncclReduceScatter(const void* in, void* out, std::size_t count, int type, int reduction, ncclComm* comm,
                              cudaStream_t stream) {
    return collective(standin::reduce_scatter, in, out, count, type, reduction, 0, comm, stream);
}
STANDIN int ncclSend(const void* data, std::size_t count, int type, int peer, ncclComm* comm, cudaStream_t stream) {
    return message(const_cast<void*>(data), count, type, peer, true, comm, stream);
}
STANDIN int ncclRecv(void* data, std::size_t count, int type, int peer, ncclComm* comm, cudaStream_t stream) {
    return message(data, count, type, peer, false, comm, stream);
}
STANDIN int ncclGroupStart() {
    ++group_depth;
    return success;
}
STANDIN int ncclGroupEnd() {
    return --group_depth > 0 ? success : end_group();
}
