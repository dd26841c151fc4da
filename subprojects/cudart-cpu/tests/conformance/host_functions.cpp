// Host functions, in streams and as nodes: order, threads, and what they must not do.
#include "gate.hpp"
#include "nodes.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace {

struct Note {
    std::vector<int>* list;
    int value;
};

void CUDART_CB write_down(void* data) {
    const auto& note = *static_cast<Note*>(data);
    note.list->push_back(note.value);
}

/// The codes that CUDA calls give inside a host function.
struct Calls {
    std::atomic<cudaError_t> get_device = cudaErrorUnknown;
    std::atomic<cudaError_t> allocate = cudaErrorUnknown;
    std::atomic<cudaError_t> last = cudaErrorUnknown;
    std::atomic<cudaError_t> query = cudaErrorUnknown;
    std::atomic<cudaError_t> graph = cudaErrorUnknown;
    std::atomic<cudaError_t> free_null = cudaErrorUnknown;
    std::atomic<cudaError_t> count = cudaErrorUnknown;
    cudaStream_t stream = nullptr;
};

void CUDART_CB call_cuda(void* data) {
    auto& calls = *static_cast<Calls*>(data);
    int number = 0;
    void* pointer = nullptr;
    cudaGraph_t graph = nullptr;
    calls.get_device = cudaGetDevice(&number);
    calls.allocate = cudaMalloc(&pointer, 16);
    calls.last = cudaGetLastError();
    calls.query = cudaStreamQuery(calls.stream);
    calls.graph = cudaGraphCreate(&graph, 0);
    calls.free_null = cudaFree(nullptr);
    static_cast<void>(cudaGetLastError());
    calls.count = cudaGetDeviceCount(&number);
}

void require_refused(const Calls& calls) {
    REQUIRE(calls.get_device.load() == cudaErrorNotPermitted);
    REQUIRE(calls.allocate.load() == cudaErrorNotPermitted);
    REQUIRE(calls.last.load() == cudaErrorNotPermitted);
    REQUIRE(calls.query.load() == cudaErrorNotPermitted);
    REQUIRE(calls.graph.load() == cudaErrorNotPermitted);
    REQUIRE(calls.free_null.load() == cudaErrorNotPermitted);
    REQUIRE(calls.count.load() == cudaSuccess);
}

} // namespace

TEST_CASE("host functions of a stream run in order, on a thread of CUDA", "[host]") {
    Stream stream;
    std::vector<int> order;
    Note one{&order, 1};
    Note two{&order, 2};
    std::atomic<bool> elsewhere = false;
    struct Where {
        std::atomic<bool>* elsewhere;
        std::thread::id caller;
    } where{&elsewhere, std::this_thread::get_id()};
    REQUIRE_CUDA(cudaLaunchHostFunc(stream, write_down, &one));
    REQUIRE_CUDA(cudaLaunchHostFunc(stream, write_down, &two));
    REQUIRE_CUDA(cudaLaunchHostFunc(
        stream,
        [](void* data) {
            const auto& place = *static_cast<Where*>(data);
            *place.elsewhere = std::this_thread::get_id() != place.caller;
        },
        &where));
    stream.synchronize();
    REQUIRE(order == std::vector{1, 2});
    REQUIRE(elsewhere.load());
}

TEST_CASE("a host function sees what the stream did before, and the stream what it did", "[host]") {
    Stream stream;
    PinnedInts pinned(2);
    Call before(store, pinned.data(), 0, 5);
    Call after(add, pinned.data(), 1, 100);
    before.launch(stream);
    REQUIRE_CUDA(cudaLaunchHostFunc(
        stream,
        [](void* data) {
            const auto values = static_cast<int*>(data);
            values[1] = values[0] * 2;
        },
        pinned.data()));
    after.launch(stream);
    stream.synchronize();
    REQUIRE(pinned.read() == std::vector{5, 110});
}

TEST_CASE("a host function must not call CUDA, and is told so", "[host]") {
    Stream stream;
    Calls calls;
    calls.stream = stream;
    REQUIRE_CUDA(cudaLaunchHostFunc(stream, call_cuda, &calls));
    stream.synchronize();
    require_refused(calls);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
    REQUIRE_CUDA(cudaStreamQuery(stream));
}

TEST_CASE("a host node must not call CUDA, and is told so", "[host][graph]") {
    Stream stream;
    Calls calls;
    calls.stream = stream;
    Graph graph;
    add_host(graph, {call_cuda, &calls});
    const Exec exec(graph);
    exec.run(stream);
    require_refused(calls);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("host nodes run in the order of their edges", "[host][graph]") {
    Stream stream;
    std::vector<int> order;
    std::vector<Note> notes;
    for (int i = 0; i < 5; ++i) {
        notes.push_back({&order, i});
    }
    Graph graph;
    Nodes nodes;
    for (Note& note : notes) {
        nodes.push_back(add_host(graph, {write_down, &note}));
    }
    // 3, 1, 4, 0, 2
    add_edge(graph, nodes[3], nodes[1]);
    add_edge(graph, nodes[1], nodes[4]);
    add_edge(graph, nodes[4], nodes[0]);
    add_edge(graph, nodes[0], nodes[2]);
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(order == std::vector{3, 1, 4, 0, 2});
}

TEST_CASE("a missing host function is refused", "[host]") {
    Stream stream;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, nullptr, nullptr));
}
