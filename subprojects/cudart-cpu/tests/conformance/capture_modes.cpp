// What a capture forbids meanwhile, to which thread, and what it allows: the three modes.
#include "capture.hpp"
#include "memory_nodes.hpp"

#include <cstdlib>
#include <functional>
#include <ostream>
#include <vector>

namespace {

constexpr auto global = cudaStreamCaptureModeGlobal;
constexpr auto thread_local_mode = cudaStreamCaptureModeThreadLocal;

/// What the calls need, none of it in a capture.
struct Surroundings {
    Surroundings() {
        REQUIRE_CUDA(cudaMallocAsync(&ordered, 64, other));
        REQUIRE_CUDA(cudaEventRecord(event, other));
        other.synchronize();
        add_empty(graph);
        REQUIRE_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    }
    ~Surroundings() {
        CHECK(cudaFree(memory) == cudaSuccess);
        CHECK(cudaFreeAsync(ordered, other) == cudaSuccess);
        CHECK(cudaFreeHost(pinned) == cudaSuccess);
        CHECK(cudaFreeArray(array) == cudaSuccess);
        CHECK(cudaStreamSynchronize(other) == cudaSuccess);
        if (exec != nullptr) {
            CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
        }
        if (pool != nullptr) {
            CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
        }
    }
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;

    Stream other{cudaStreamNonBlocking};
    Event event;
    Graph graph;
    DeviceInts data{16};
    std::vector<int> host = std::vector<int>(16, 3);
    Call<int*, int, int> call{store, data.data(), 0, 1};
    void* memory = nullptr;
    void* ordered = nullptr;
    void* pinned = nullptr;
    cudaArray_t array = nullptr;
    cudaMemPool_t pool = nullptr;
    cudaGraphExec_t exec = nullptr;
};

struct Named {
    const char* name;
    cudaError_t (*call)(Surroundings&);
};

std::ostream& operator<<(std::ostream& out, const Named& call) {
    return out << call.name;
}

cudaMemPool_t default_pool() {
    cudaMemPool_t pool = nullptr;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    return pool;
}

/// Calls that may touch what a capture relies on.
const Named unsafe_calls[] = {
    {"cudaMalloc", [](Surroundings& s) { return cudaMalloc(&s.memory, 64); }},
    {"cudaFree", [](Surroundings& s) { return cudaFree(std::exchange(s.memory, nullptr)); }},
    {"cudaMallocHost", [](Surroundings& s) { return cudaMallocHost(&s.pinned, 64); }},
    {"cudaFreeHost", [](Surroundings& s) { return cudaFreeHost(std::exchange(s.pinned, nullptr)); }},
    {"cudaMallocArray",
     [](Surroundings& s) {
         const cudaChannelFormatDesc ints = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
         return cudaMallocArray(&s.array, &ints, 16, 16, 0);
     }},
    {"cudaMallocAsync of another stream",
     [](Surroundings& s) {
         void* data = nullptr;
         const cudaError_t code = cudaMallocAsync(&data, 64, s.other);
         return code == cudaSuccess ? cudaFreeAsync(data, s.other) : code;
     }},
    {"cudaFreeAsync of nothing", [](Surroundings& s) { return cudaFreeAsync(nullptr, s.other); }},
    {"cudaFreeAsync of another stream",
     [](Surroundings& s) {
         const cudaError_t code = cudaFreeAsync(s.ordered, s.other);
         s.ordered = code == cudaSuccess ? nullptr : s.ordered;
         return code;
     }},
    {"cudaStreamSynchronize of another stream", [](Surroundings& s) { return cudaStreamSynchronize(s.other); }},
    {"cudaStreamQuery of another stream", [](Surroundings& s) { return cudaStreamQuery(s.other); }},
    {"cudaStreamSynchronize of the legacy stream", [](Surroundings&) { return cudaStreamSynchronize(nullptr); }},
    {"cudaStreamQuery of the legacy stream", [](Surroundings&) { return cudaStreamQuery(nullptr); }},
    {"cudaEventSynchronize", [](Surroundings& s) { return cudaEventSynchronize(s.event); }},
    {"cudaEventQuery", [](Surroundings& s) { return cudaEventQuery(s.event); }},
    {"cudaGraphInstantiate",
     [](Surroundings& s) {
         cudaGraphExec_t exec = nullptr;
         const cudaError_t code = cudaGraphInstantiateWithFlags(&exec, s.graph, 0);
         return code == cudaSuccess ? cudaGraphExecDestroy(exec) : code;
     }},
    {"cudaGraphExecDestroy",
     [](Surroundings& s) {
         const cudaError_t code = cudaGraphExecDestroy(s.exec);
         s.exec = code == cudaSuccess ? nullptr : s.exec;
         return code;
     }},
    {"cudaMemPoolCreate",
     [](Surroundings& s) {
         cudaMemPoolProps properties{};
         properties.allocType = cudaMemAllocationTypePinned;
         properties.location.type = cudaMemLocationTypeDevice;
         return cudaMemPoolCreate(&s.pool, &properties);
     }},
    {"cudaMemPoolTrimTo", [](Surroundings&) { return cudaMemPoolTrimTo(default_pool(), 0); }},
    {"cudaMemPoolGetAttribute",
     [](Surroundings&) {
         unsigned long long bytes = 0;
         return cudaMemPoolGetAttribute(default_pool(), cudaMemPoolAttrReleaseThreshold, &bytes);
     }},
    {"cudaMemPoolSetAttribute",
     [](Surroundings&) {
         unsigned long long bytes = 0;
         return cudaMemPoolSetAttribute(default_pool(), cudaMemPoolAttrReleaseThreshold, &bytes);
     }},
};

/// Calls that nobody minds.
const Named safe_calls[] = {
    {"cudaLaunchKernel on another stream",
     [](Surroundings& s) { return cudaLaunchKernel(s.call.function(), 1, 1, s.call.arguments(), 0, s.other); }},
    {"cudaLaunchKernel on the legacy stream",
     [](Surroundings& s) { return cudaLaunchKernel(s.call.function(), 1, 1, s.call.arguments(), 0, nullptr); }},
    {"cudaMemcpyAsync on another stream",
     [](Surroundings& s) { return cudaMemcpyAsync(s.data.data(), s.host.data(), 8, cudaMemcpyHostToDevice, s.other); }},
    {"cudaMemsetAsync on another stream",
     [](Surroundings& s) { return cudaMemsetAsync(s.data.data(), 0, 8, s.other); }},
    {"cudaLaunchHostFunc on another stream",
     [](Surroundings& s) {
         return cudaLaunchHostFunc(
             s.other, [](void*) {}, nullptr);
     }},
    {"cudaGraphLaunch on another stream", [](Surroundings& s) { return cudaGraphLaunch(s.exec, s.other); }},
    {"cudaGraphUpload on another stream", [](Surroundings& s) { return cudaGraphUpload(s.exec, s.other); }},
    {"cudaEventRecord on another stream", [](Surroundings& s) { return cudaEventRecord(s.event, s.other); }},
    {"cudaStreamWaitEvent of another stream", [](Surroundings& s) { return cudaStreamWaitEvent(s.other, s.event, 0); }},
    {"cudaEventElapsedTime",
     [](Surroundings& s) {
         float milliseconds = 0;
         return cudaEventElapsedTime(&milliseconds, s.event, s.event);
     }},
    {"cudaMemcpy", [](Surroundings& s) { return cudaMemcpy(s.data.data(), s.host.data(), 8, cudaMemcpyHostToDevice); }},
    {"cudaMemset", [](Surroundings& s) { return cudaMemset(s.data.data(), 0, 8); }},
    {"cudaMemGetInfo",
     [](Surroundings&) {
         std::size_t free = 0;
         std::size_t total = 0;
         return cudaMemGetInfo(&free, &total);
     }},
    {"cudaStreamCreate and cudaStreamDestroy",
     [](Surroundings&) {
         cudaStream_t stream = nullptr;
         const cudaError_t code = cudaStreamCreate(&stream);
         return code == cudaSuccess ? cudaStreamDestroy(stream) : code;
     }},
    {"cudaEventCreate and cudaEventDestroy",
     [](Surroundings&) {
         cudaEvent_t event = nullptr;
         const cudaError_t code = cudaEventCreate(&event);
         return code == cudaSuccess ? cudaEventDestroy(event) : code;
     }},
    {"cudaGraphCreate and cudaGraphDestroy",
     [](Surroundings&) {
         cudaGraph_t graph = nullptr;
         const cudaError_t code = cudaGraphCreate(&graph, 0);
         return code == cudaSuccess ? cudaGraphDestroy(graph) : code;
     }},
    {"cudaGraphExecUpdate",
     [](Surroundings& s) {
         cudaGraphExecUpdateResultInfo info{};
         return cudaGraphExecUpdate(s.exec, s.graph, &info);
     }},
    {"cudaSetDevice", [](Surroundings&) { return cudaSetDevice(0); }},
    {"cudaDeviceGetAttribute",
     [](Surroundings&) {
         int value = 0;
         return cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
     }},
    {"cudaFuncGetAttributes",
     [](Surroundings& s) {
         cudaFuncAttributes attributes{};
         return cudaFuncGetAttributes(&attributes, s.call.function());
     }},
    {"cudaFuncSetAttribute",
     [](Surroundings& s) {
         return cudaFuncSetAttribute(s.call.function(), cudaFuncAttributeMaxDynamicSharedMemorySize, 49152);
     }},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor",
     [](Surroundings& s) {
         int blocks = 0;
         return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, s.call.function(), 32, 0);
     }},
    {"cudaPointerGetAttributes",
     [](Surroundings& s) {
         cudaPointerAttributes attributes{};
         return cudaPointerGetAttributes(&attributes, s.data.data());
     }},
    {"cudaGraphClone",
     [](Surroundings& s) {
         cudaGraph_t clone = nullptr;
         const cudaError_t code = cudaGraphClone(&clone, s.graph);
         return code == cudaSuccess ? cudaGraphDestroy(clone) : code;
     }},
    {"cudaStreamGetFlags of another stream",
     [](Surroundings& s) {
         unsigned flags = 0;
         return cudaStreamGetFlags(s.other, &flags);
     }},
    {"cudaDeviceGraphMemTrim", [](Surroundings&) { return cudaDeviceGraphMemTrim(0); }},
    {"a capture of another stream",
     [](Surroundings& s) {
         cudaGraph_t graph = nullptr;
         const cudaError_t code = cudaStreamBeginCapture(s.other, global);
         if (code != cudaSuccess || cudaStreamEndCapture(s.other, &graph) != cudaSuccess) {
             return cudaErrorUnknown;
         }
         return cudaGraphDestroy(graph);
     }},
};

/// The calling thread's mode, for a while.
class ThreadMode {
  public:
    explicit ThreadMode(cudaStreamCaptureMode mode) : other_(mode) { exchange(); }
    ~ThreadMode() { exchange(); }
    ThreadMode(const ThreadMode&) = delete;
    ThreadMode& operator=(const ThreadMode&) = delete;

  private:
    void exchange() { CHECK(cudaThreadExchangeStreamCaptureMode(&other_) == cudaSuccess); }
    cudaStreamCaptureMode other_;
};

/// The calls come from this thread or from another, and are refused or not.
void every_unsafe_call(cudaStreamCaptureMode mode, void (*run)(const std::function<void()>&), bool refused) {
    for (const Named& unsafe : unsafe_calls) {
        INFO(unsafe);
        Surroundings surroundings;
        Stream stream(cudaStreamNonBlocking);
        Capture capture(stream, mode);
        surroundings.call.launch(stream);
        run([&] {
            if (refused) {
                REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, unsafe.call(surroundings));
            } else {
                REQUIRE_CUDA(unsafe.call(surroundings));
            }
        });
        if (refused) {
            REQUIRE(invalidated(stream));
            capture.fail(cudaErrorStreamCaptureInvalidated);
        } else {
            REQUIRE(captures(stream));
            REQUIRE(nodes_of(capture.end()).size() == 1);
        }
    }
}

void here(const std::function<void()>& function) {
    function();
}

} // namespace

TEST_CASE("a thread that captures may make no unsafe calls: each invalidates the capture", "[capture][modes]") {
    every_unsafe_call(GENERATE(global, thread_local_mode), &here, true);
}

TEST_CASE("a thread with a relaxed capture makes unsafe calls", "[capture][modes]") {
    every_unsafe_call(relaxed, &here, false);
}

TEST_CASE("other threads may make no unsafe calls during a global capture", "[capture][modes]") {
    every_unsafe_call(global, &elsewhere, true);
}

TEST_CASE("other threads make unsafe calls during a thread-local or relaxed capture", "[capture][modes]") {
    every_unsafe_call(GENERATE(thread_local_mode, relaxed), &elsewhere, false);
}

TEST_CASE("a thread in relaxed mode makes unsafe calls during its own captures", "[capture][modes]") {
    every_unsafe_call(
        GENERATE(global, thread_local_mode),
        [](const std::function<void()>& function) {
            const ThreadMode mode(relaxed);
            function();
        },
        false);
}

TEST_CASE("a thread in thread-local mode makes unsafe calls during another thread's global capture",
          "[capture][modes]") {
    every_unsafe_call(
        global,
        [](const std::function<void()>& function) {
            elsewhere([&] {
                const ThreadMode mode(thread_local_mode);
                function();
            });
        },
        false);
}

TEST_CASE("thread-local mode frees a thread of other threads' captures only", "[capture][modes]") {
    every_unsafe_call(
        global,
        [](const std::function<void()>& function) {
            const ThreadMode mode(thread_local_mode);
            function();
        },
        true);
}

TEST_CASE("calls that are not unsafe are allowed during every capture, to every thread", "[capture][modes]") {
    const auto mode = GENERATE(values(all_modes));
    for (const Named& safe : safe_calls) {
        INFO(safe);
        Surroundings surroundings;
        Stream stream(cudaStreamNonBlocking);
        Capture capture(stream, mode);
        surroundings.call.launch(stream);
        REQUIRE_CUDA(safe.call(surroundings));
        elsewhere([&] { REQUIRE_CUDA(safe.call(surroundings)); });
        REQUIRE(captures(stream));
        REQUIRE(nodes_of(capture.end()).size() == 1);
        REQUIRE_CUDA(cudaDeviceSynchronize());
    }
}

TEST_CASE("an unsafe call invalidates every capture that forbids it, and no other", "[capture][modes]") {
    Stream first;
    Stream second;
    Stream third;
    Capture one(first, global);
    Capture two(second, thread_local_mode);
    Capture three(third, relaxed);
    void* data = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaMalloc(&data, 64));
    REQUIRE(invalidated(first));
    REQUIRE(invalidated(second));
    REQUIRE(captures(third));
    one.fail(cudaErrorStreamCaptureInvalidated);
    two.fail(cudaErrorStreamCaptureInvalidated);
    three.end();
}

TEST_CASE("a thread's mode is exchanged, and is its own", "[capture][modes]") {
    cudaStreamCaptureMode mode = relaxed;
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == global);
    mode = thread_local_mode;
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == relaxed);
    elsewhere([] {
        cudaStreamCaptureMode theirs = relaxed;
        REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&theirs));
        REQUIRE(theirs == global);
    });
    mode = global;
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == thread_local_mode);
}

TEST_CASE("what a thread may do depends on its mode at the call, not at the begin", "[capture][modes]") {
    Stream stream;
    Stream other;
    cudaStreamCaptureMode mode = relaxed;
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    Capture capture(stream, global);
    other.synchronize();
    REQUIRE(captures(stream));
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(other));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("an invalidated capture forbids nothing more", "[capture][modes]") {
    Stream stream;
    Stream other;
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(other));
    REQUIRE(invalidated(stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
    other.synchronize();
}
