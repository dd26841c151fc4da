// Enabling and disabling nodes of an executable graph.
#include "gate.hpp"
#include "nodes.hpp"

#include <chrono>
#include <thread>
#include <vector>

namespace {

void CUDART_CB do_nothing(void*) {}

bool enabled(cudaGraphExec_t exec, cudaGraphNode_t node) {
    unsigned value = 9;
    REQUIRE_CUDA(cudaGraphNodeGetEnabled(exec, node, &value));
    REQUIRE(value <= 1);
    return value == 1;
}

/// memset of 1 > kernel that adds 10 > copy to the second int.
struct Line {
    Stream stream;
    DeviceInts data{2};
    Call<int*, int, int> plus{add, data.data(), 0, 10};
    Graph graph;
    cudaGraphNode_t set = add_memset(graph, set_ints(data.data(), 1, 1));
    cudaGraphNode_t kernel = add_kernel(graph, plus, {set});
    cudaGraphNode_t copy = add_memcpy(graph, data.data() + 1, data.data(), 4, cudaMemcpyDeviceToDevice, {kernel});
    Exec exec{graph};

    std::vector<int> run() {
        exec.run(stream);
        return data.read();
    }
    void set_enabled(cudaGraphNode_t node, bool on) { REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, node, on ? 1 : 0)); }
};

} // namespace

TEST_CASE("kernel, memcpy and memset nodes are enabled at first", "[enable]") {
    const Line line;
    REQUIRE(enabled(line.exec, line.set));
    REQUIRE(enabled(line.exec, line.kernel));
    REQUIRE(enabled(line.exec, line.copy));
}

TEST_CASE("a disabled node does nothing, and what comes after it still comes after what is before it", "[enable]") {
    Line line;
    REQUIRE(line.run() == std::vector{11, 11});
    line.set_enabled(line.kernel, false);
    REQUIRE_FALSE(enabled(line.exec, line.kernel));
    REQUIRE(line.run() == std::vector{1, 1});
    line.set_enabled(line.kernel, true);
    line.set_enabled(line.set, false);
    REQUIRE(line.run() == std::vector{11, 11});
    line.set_enabled(line.copy, false);
    REQUIRE(line.run() == std::vector{21, 11});
    line.set_enabled(line.copy, true);
    line.set_enabled(line.set, true);
    REQUIRE(line.run() == std::vector{11, 11});
}

TEST_CASE("any value but zero enables", "[enable]") {
    Line line;
    line.set_enabled(line.kernel, false);
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(line.exec, line.kernel, 5));
    REQUIRE(enabled(line.exec, line.kernel));
}

TEST_CASE("executable graphs of one graph are enabled separately", "[enable]") {
    Line line;
    const Exec second(line.graph);
    line.set_enabled(line.kernel, false);
    REQUIRE(enabled(second, line.kernel));
}

TEST_CASE("a disabled node stays disabled when its parameters change", "[enable]") {
    Line line;
    line.set_enabled(line.kernel, false);
    line.plus.argument<2>() = 20;
    const cudaKernelNodeParams params = line.plus.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(line.exec, line.kernel, &params));
    REQUIRE_FALSE(enabled(line.exec, line.kernel));
    REQUIRE(line.run() == std::vector{1, 1});
    line.set_enabled(line.kernel, true);
    REQUIRE(line.run() == std::vector{21, 21});
}

TEST_CASE("a disabled node stays disabled in a whole update", "[enable]") {
    Line line;
    line.set_enabled(line.kernel, false);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), line.graph));
    REQUIRE_CUDA(cudaGraphExecUpdate(line.exec, clone, nullptr));
    REQUIRE_FALSE(enabled(line.exec, line.kernel));
    REQUIRE(line.run() == std::vector{1, 1});
}

TEST_CASE("host and empty nodes can be neither disabled nor asked", "[enable]") {
    Graph graph;
    const cudaGraphNode_t host = add_host(graph, {do_nothing, nullptr});
    const cudaGraphNode_t empty = add_empty(graph);
    const Exec exec(graph);
    unsigned value = 9;
    for (const cudaGraphNode_t node : {host, empty}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, node, 0));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, node, &value));
    }
    REQUIRE(value == 9);
}

TEST_CASE("only nodes that the executable graph was made with can be enabled or disabled", "[enable]") {
    Line line;
    Line other;
    const cudaGraphNode_t late = add_kernel(line.graph, line.plus);
    unsigned value = 9;
    for (const cudaGraphNode_t node : {other.kernel, late, cudaGraphNode_t{nullptr}}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(line.exec, node, 0));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(line.exec, node, &value));
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(nullptr, line.kernel, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(line.exec, line.kernel, nullptr));
}

namespace {

/// A gate > a memset of `params` > a kernel > an event's record, in a graph whose memset can be disabled.
struct HeldLine {
    explicit HeldLine(const cudaMemsetParams& params) : set(add_memset(graph, params, {held})) {
        const cudaGraphNode_t after = add_kernel(graph, kernel, {set});
        cudaGraphNode_t record = nullptr;
        REQUIRE_CUDA(cudaGraphAddEventRecordNode(&record, graph, &after, 1, event));
        REQUIRE_CUDA(cudaGraphInstantiate(&exec, graph, 0));
        gate.open(); // the first launch may load kernels, which may wait
        REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
        REQUIRE_CUDA(cudaDeviceSynchronize());
        gate.close();
    }
    ~HeldLine() {
        gate.open();
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    }
    HeldLine(const HeldLine&) = delete;
    HeldLine& operator=(const HeldLine&) = delete;

    void disable() { REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, set, 0)); }
    void update(const cudaMemsetParams& params) { REQUIRE_CUDA(cudaGraphExecMemsetNodeSetParams(exec, set, &params)); }

    /// Whether what comes after the memset is held up by the gate.
    bool keeps_order() {
        using std::chrono::milliseconds;
        REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
        bool passed = false;
        for (int i = 0; i < 100 && !passed; ++i) {
            std::this_thread::sleep_for(milliseconds(2));
            const cudaError_t status = cudaEventQuery(event);
            REQUIRE((status == cudaSuccess || status == cudaErrorNotReady));
            passed = status == cudaSuccess;
        }
        gate.open();
        REQUIRE_CUDA(cudaDeviceSynchronize());
        gate.close();
        return !passed;
    }

    Stream stream;
    Event event;
    DeviceInts cell{1};
    Call<int*, int, int> kernel{add, cell.data(), 0, 1};
    Graph graph;
    Gate gate;
    cudaGraphNode_t held = add_host(graph, gate.node());
    cudaGraphNode_t set;
    cudaGraphExec_t exec = nullptr;
};

cudaMemsetParams set_bytes(void* to, std::size_t bytes) {
    cudaMemsetParams params{};
    params.dst = to;
    params.elementSize = 1;
    params.width = bytes;
    params.height = 1;
    return params;
}

constexpr std::size_t large = 65536;

} // namespace

TEST_CASE("a disabled memset of one row of up to 4096 bytes orders nothing", "[enable][concurrent]") {
    DeviceInts data(large / sizeof(int));
    PinnedInts host(1024);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}}) {
        HeldLine line(set_bytes(data.data(), bytes));
        REQUIRE(line.keeps_order());
        line.disable();
        REQUIRE_FALSE(line.keeps_order());
    }
    HeldLine line(set_bytes(host.data(), 4096));
    line.disable();
    REQUIRE_FALSE(line.keeps_order());
}

TEST_CASE("a larger disabled memset keeps the order, and one of several rows or of managed memory",
          "[enable][concurrent]") {
    DeviceInts data(large / sizeof(int));
    cudaMemsetParams rows = set_bytes(data.data(), 64);
    rows.height = 2;
    rows.pitch = 512;
    void* managed = nullptr;
    REQUIRE_CUDA(cudaMallocManaged(&managed, 64));
    for (const cudaMemsetParams& params : {set_bytes(data.data(), 4097), rows, set_bytes(managed, 64)}) {
        HeldLine line(params);
        line.disable();
        REQUIRE(line.keeps_order());
    }
    REQUIRE_CUDA(cudaFree(managed));
}

TEST_CASE("whether a disabled memset keeps the order depends on its size now, unless it was large when instantiated",
          "[enable][concurrent]") {
    DeviceInts data(large / sizeof(int));
    DeviceInts other(large / sizeof(int));
    HeldLine small(set_bytes(data.data(), 64));
    small.disable();
    small.update(set_bytes(other.data(), large));
    REQUIRE(small.keeps_order());
    small.update(set_bytes(data.data(), 32));
    REQUIRE_FALSE(small.keeps_order());
    small.update(set_bytes(data.data(), large));
    REQUIRE_CUDA(cudaGraphExecUpdate(small.exec, small.graph, nullptr));
    REQUIRE_FALSE(small.keeps_order());
    HeldLine wide(set_bytes(data.data(), large));
    wide.disable();
    wide.update(set_bytes(data.data(), 64));
    REQUIRE(wide.keeps_order());
}

TEST_CASE("a memset is not set to more bytes than its memory has, also while it is disabled", "[enable]") {
    DeviceInts data(1);
    HeldLine line(set_bytes(data.data(), 4));
    line.disable();
    const cudaMemsetParams params = set_bytes(data.data(), large);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(line.exec, line.set, &params));
}
