// What only newer versions of CUDA can do, over drivers and runtimes of older ones; a program of its own.
#include "kernels.hpp"
#include "thrown.hpp"

#include <algorithm>
#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudag/graph_text.hpp>
#include <cudart_cpu/control.hpp>

#include <functional>
#include <string>
#include <thread>
#include <utility>

using cudag::Error;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;

namespace {

int runtime_version = CUDART_VERSION;

/// While it lives, driver and runtime are of these versions.
struct Versions {
    explicit Versions(int driver, int runtime = CUDART_VERSION) {
        cudart_cpu::set_driver_version(driver);
        runtime_version = runtime;
    }
    ~Versions() {
        cudart_cpu::set_driver_version(0);
        runtime_version = CUDART_VERSION;
    }
    Versions(const Versions&) = delete;
    Versions& operator=(const Versions&) = delete;
};

void nothing(GraphBuilder&) {}

Graph one_node(const cudag::DeviceBuffer<int>& cell) {
    GraphBuilder b;
    b.memset(cell, 7).label("seven");
    return std::move(b).build();
}

/// What needs the version `needed`, and is refused by the text `feature` before.
struct Gate {
    int needed;
    int before; // the version of CUDA before that one
    std::string feature;
    std::function<void(GraphBuilder&)> use;
};

std::string number(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void check_refused(const Gate& gate, int here) {
    GraphBuilder b;
    const auto error = thrown<GraphError>([&] { gate.use(b); });
    CHECK(error.code().value() == cudaErrorNotSupported);
    CHECK_THAT(error.what(), ContainsSubstring(gate.feature + " needs CUDA " + number(gate.needed) +
                                               "; this process has CUDA " + number(here) + " at most"));
    CHECK(cudaGetLastError() == cudaSuccess);
}

void check_gate(const Gate& gate) {
    CAPTURE(gate.feature);
    if (CUDART_VERSION < gate.needed) { // the headers' version counts, too
        const Versions newer(gate.needed, gate.needed);
        return check_refused(gate, CUDART_VERSION);
    }
    {
        const Versions old_driver(gate.before);
        check_refused(gate, gate.before);
    }
    {
        const Versions old_runtime(CUDART_VERSION, gate.before);
        check_refused(gate, gate.before);
    }
    const Versions just_enough(gate.needed, gate.needed);
    GraphBuilder b;
    gate.use(b);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
}

} // namespace

/// Stands before the CPU runtime's.
extern "C" cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) {
    *version = runtime_version;
    return cudaSuccess;
}

TEST_CASE("a switch needs CUDA 12.8", "[versions]") {
    check_gate({12080, 12060, "a switch", [](GraphBuilder& b) { b.switch_(b.condition(0), {nothing}); }});
}

TEST_CASE("an if with an else needs CUDA 12.8, without one it does not", "[versions]") {
    check_gate({12080, 12060, "an if with an else", [](GraphBuilder& b) { b.if_(b.condition(0), nothing, nothing); }});
    const Versions old(12060);
    GraphBuilder b;
    b.if_(b.condition(0), nothing);
    CHECK(std::move(b).build().instantiate().replays() == 0);
}

TEST_CASE("a condition that a repeated body sets back needs CUDA 12.8, without an initial value it does not",
          "[versions]") {
    check_gate({12080, 12060, "a condition with an initial value in a body that is repeated", [](GraphBuilder& b) {
                    const auto turns = b.condition(0);
                    b.while_(turns, [](GraphBuilder& body) { body.if_(body.condition(0), nothing); });
                }});
    const Versions old(12060);
    GraphBuilder b;
    const auto turns = b.condition(0);
    b.while_(turns, [](GraphBuilder& body) { body.if_(body.condition(), nothing); });
    CHECK(std::move(b).build().instantiate().replays() == 0);
}

TEST_CASE("a host node that spins needs CUDA 13.1", "[versions]") {
    check_gate({13010, 13000, "a host node with another sync_mode than blocking",
                [](GraphBuilder& b) { b.host([] {}, {.sync_mode = cudag::HostSyncMode::spin_wait}); }});
}

TEST_CASE("a batch of copies is one node from CUDA 13.5 on, before it a node for each and a join", "[versions]") {
    const cudag::DeviceBuffer<int> x(1), y(1), z(1);
    const auto build = [&] {
        GraphBuilder b;
        b.memcpy({{y, x}, {z, x}});
        return std::move(b).build();
    };
    const bool has_headers = CUDART_VERSION >= 13050;
    CHECK(build().nodes().size() == (has_headers ? 1 : 3));
    cudag::GraphNames names;
    names.memory("x", x).memory("y", y);
    const std::string text =
        "cudag graph 1\nmemory x: 4 bytes\nmemory y: 4 bytes\nnodes: 1\n0: memcpy_batch\n  number of copies: 1\n"
        "  destination 0: y\n  source 0: x\n  bytes 0: 4\n";
    if (has_headers) {
        const Graph loaded = cudag::load(text, names).graph;
        CHECK(loaded.nodes()[0].kind() == cudag::NodeKind::memcpy_batch);
    }
    const Versions old(13040);
    const Graph graph = build();
    CHECK(graph.nodes().size() == 3);
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
    const auto error = thrown<GraphError>([&] { static_cast<void>(cudag::load(text, names)); });
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("a batch of copies in one node needs CUDA 13.5"));
}

TEST_CASE("conditions from device memory and repetitions need CUDA 12.8", "[versions]") {
    const cudag::DeviceBuffer<unsigned> value(1);
    const Gate set{12080, 12060, "set(condition, value)", [&](GraphBuilder& b) { b.set(b.condition(0), value); }};
    const Gate repeat{12080, 12060, "repeat(times, body)", [](GraphBuilder& b) { b.repeat(2, nothing); }};
    for (const Gate* gate : {&set, &repeat}) {
        CAPTURE(gate->feature);
        {
            const Versions old_driver(gate->before);
            check_refused(*gate, std::min(gate->before, CUDART_VERSION));
        }
        const Versions just_enough(gate->needed, gate->needed);
        GraphBuilder b;
        if (CUDART_VERSION >= gate->needed)
            CHECK_NOTHROW(gate->use(b));
        else
            check_refused(*gate, CUDART_VERSION);
    }
}

TEST_CASE("loops beside others have a kernel at the end of a turn from CUDA 12.8 on, and before it the nodes that were "
          "written",
          "[versions]") {
    for (const int driver : {12060, 12080}) {
        if (driver > CUDART_VERSION) continue;
        const Versions versions(driver);
        GraphBuilder b;
        cudag::WhileNode loop;
        for (int i = 0; i < 2; ++i) {
            const auto turns = b.condition(1);
            loop = b.while_(turns, [&](GraphBuilder& body) { body.kernel({}, set_condition, turns, 0); });
        }
        const Graph graph = std::move(b).build();
        CHECK(loop.body().node_count() == (driver < 12080 ? 1 : 2));
    }
}

TEST_CASE("a child by move needs CUDA 12.9, a clone does not, and a refused graph stays what it was", "[versions]") {
    const cudag::DeviceBuffer<int> cell(1);
    check_gate({12090, 12080, "moving a graph into another one (a clone does not: pass it without std::move)",
                [&](GraphBuilder& b) { b.child(one_node(cell)).label("child"); }});
    const Versions old(12080);
    Graph inner = one_node(cell);
    GraphBuilder b;
    CHECK_THROWS_AS(b.child(std::move(inner)), GraphError);
    CHECK(inner.instantiate().replays() == 0);
    b.child(inner);
    CHECK(std::move(b).build().instantiate().replays() == 0);
}

TEST_CASE("launch attributes that came after CUDA 12.4 need the version that brought them", "[versions]") {
    const cudag::DeviceBuffer<int> cell(1);
    const auto with = [&](const cudag::LaunchConfig& config) {
        return [&cell, config](GraphBuilder& b) { b.kernel(config, multiply_add, cell, cell, 0, 1); };
    };
    check_gate({12050, 12040, "preferred_shared_memory_carveout", with({.preferred_shared_memory_carveout = 50})});
    check_gate({13000, 12090, "nvlink_util_centric_scheduling", with({.nvlink_util_centric_scheduling = true})});
    check_gate({13020, 13010, "portable_cluster_size_mode",
                with({.portable_cluster_size_mode = cudag::PortableClusterMode::require_portable})});
    check_gate({13020, 13010, "shared_memory_mode",
                with({.shared_memory_mode = cudag::SharedMemoryMode::allow_non_portable})});
    check_gate({13040, 13030, "shared_memory_mode allow_oversized",
                with({.shared_memory_mode = cudag::SharedMemoryMode::allow_oversized})});
    check_gate({13040, 13030, "shared_memory_mode prefer_oversized",
                with({.shared_memory_mode = cudag::SharedMemoryMode::prefer_oversized})});
    check_gate({13040, 13030, "cluster_scheduling_policy rubin_dsmem_locality",
                with({.cluster_scheduling_policy = cudag::ClusterSchedulingPolicy::rubin_dsmem_locality})});
}

TEST_CASE("a launch in a stream needs the version that brought its attributes, too", "[versions]") {
    const Versions old(12040);
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    const auto error = thrown<Error>(
        [&] { cudag::launch(stream, {.preferred_shared_memory_carveout = 50}, multiply_add, cell, cell, 0, 1); });
    CHECK(error.code().value() == cudaErrorNotSupported);
    CHECK_THAT(error.what(),
               ContainsSubstring("preferred_shared_memory_carveout needs CUDA 12.5; this process has CUDA 12.4"));
    const auto cluster = thrown<Error>([&] {
        cudag::launch(stream, {.grid = 8, .cluster = 2, .preferred_cluster = 4}, multiply_add, cell, cell, 0, 1);
    });
    CHECK_THAT(cluster.what(), ContainsSubstring("preferred_cluster needs CUDA 12.8; this process has CUDA 12.4"));
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("captured nodes are read over drivers that do not know all attributes", "[versions]") {
    const Versions old(12040);
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    const Graph graph = cudag::capture(
        stream, [&](cudaStream_t s) { cudag::launch(s, {.priority = -1}, multiply_add, cell, cell, 0, 1); });
    CHECK_THAT(to_string(graph.nodes().at(0).kernel_info().config), ContainsSubstring("block 1, priority -1"));
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a stream's device is known over drivers that do not tell it, before CUDA 12.8", "[versions]") {
    cudart_cpu::set_devices(2);
    const int driver = GENERATE(12040, 12060, CUDART_VERSION);
    const Versions versions(driver);
    CAPTURE(driver);
    cudag::check(cudaSetDevice(1));
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    cudag::check(cudaSetDevice(0));
    GraphBuilder b;
    const auto capture = [&](GraphBuilder& body) {
        body.capture(stream, [&](cudaStream_t s) { cudag::memset_async(s, cell, 0); });
    };
    const auto error = thrown<GraphError>([&] { b.if_(b.condition(0), capture); });
    CHECK_THAT(error.what(), ContainsSubstring("the stream is of device 1") && ContainsSubstring("is on device 0"));
    int device = -1;
    cudag::check(cudaGetDevice(&device));
    CHECK(device == 0);
    CHECK(cudaGetLastError() == cudaSuccess);
    cudart_cpu::set_devices(0);
}

// For processes whose driver is of one version from the start, because cudag fetches functions once.

TEST_CASE("cudag runs over a driver of CUDA 12.4", "[.][driver-12.4]") {
    const cudag::DeviceBuffer<int> cell(1);
    const Graph graph = one_node(cell);
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
    int value = 0;
    cudag::check(cudaMemcpy(&value, cell.data(), sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 7);
}

TEST_CASE("a driver before CUDA 12.4 is refused by its version", "[.][driver-12.3]") {
    const cudag::DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto error = thrown<Error>([&] { b.kernel({}, multiply_add, cell, cell, 0, 1); });
    CHECK(error.code().value() == cudaErrorInsufficientDriver);
    CHECK_THAT(error.what(),
               ContainsSubstring("the driver is of CUDA 12.3; cudag needs a driver of CUDA 12.4 or later"));
    CHECK(cudaGetLastError() == cudaSuccess);
}

namespace {

Error failing_call() {
    return thrown<Error>([] { cudag::check(cudaSetDevice(99)); });
}

} // namespace

#if CUDART_VERSION >= 13000
TEST_CASE("a driver of CUDA 13.2 counts parameters without a line in its log", "[.][driver-13.2]") {
    const cudag::DeviceBuffer<int> cell(1);
    const cudag::Stream stream;
    const Graph graph = cudag::capture(
        stream, [&](cudaStream_t s) { cudag::launch(s, {}, multiply_add, cell.data(), cell.data(), 1, 2); });
    cudaLogIterator position{};
    cudag::check(cudaLogsCurrent(&position, 0));
    CHECK(graph.nodes().at(0).kernel_info().arguments.size() == 4);
    std::string text(25600, '\0');
    std::size_t size = text.size();
    cudag::check(cudaLogsDumpToMemory(&position, text.data(), &size, 0));
    text.resize(size);
    CHECK(text.empty());
}
#endif

TEST_CASE("an error has CUDA's log over a driver of CUDA 12.9", "[.][driver-12.9]") {
    CHECK_FALSE(failing_call().log().empty());
}

TEST_CASE("a broken capture has the code of its last call over a driver without a log", "[.][driver-12.8]") {
    const cudag::Stream stream;
    for (int i = 0; i < 2; ++i) { // CUDA's last error was clear before, and is so again
        cudag::StreamCapture capture(stream, {.mode = cudag::CaptureMode::global});
        void* memory = nullptr;
        CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
        const auto error = thrown<cudag::CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
        CHECK(error.code().value() == cudaErrorStreamCaptureUnsupported);
        CHECK_THAT(error.what(), ContainsSubstring("the capture was broken: ") && !ContainsSubstring("another thread"));
        CHECK(cudaGetLastError() == cudaSuccess);
    }
}

TEST_CASE("an error of the same code as one from before a capture is told once another one was, without a log, too",
          "[.][driver-12.8][first]") {
    const cudag::Stream stream;
    const auto is_told = [](cudaError_t code, const auto& step) {
        CHECK(thrown<cudag::CaptureError>(step).code().value() == code);
        CHECK(cudaGetLastError() == cudaSuccess);
    };
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    cudag::StreamCapture capture(stream);
    is_told(cudaErrorInvalidValue, [&] {
        capture.step("copies", [](cudaStream_t s) {
            static_cast<void>(cudaMemcpyAsync(nullptr, nullptr, 4, cudaMemcpyDeviceToDevice, s));
        });
    });
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    is_told(cudaErrorInvalidDevice, [&] { capture.step("next", [] {}); });
}

TEST_CASE("an error that was read is told again where it is of the code of one from before the capture, without a log",
          "[.][driver-12.8]") {
    const cudag::Stream stream;
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    cudag::StreamCapture capture(stream);
    capture.mark("with an error from before");
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    capture.mark("without one");
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    const auto error = thrown<cudag::CaptureError>([&] { capture.mark("with one of its own"); });
    CHECK(error.code().value() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a capture without a log is broken with the last error's code, unless that is from before or was read",
          "[.][driver-12.8]") {
    const cudag::Stream stream;
    const auto break_it = [] {
        void* memory = nullptr;
        return cudaMalloc(&memory, 4);
    };
    const auto finish = [&](const auto& between) {
        cudag::StreamCapture capture(stream, {.mode = cudag::CaptureMode::global});
        between();
        const auto error = thrown<cudag::CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
        CHECK(cudaGetLastError() == cudaSuccess);
        CHECK_THAT(error.what(), !ContainsSubstring("wait for an event that was recorded"));
        return static_cast<cudaError_t>(error.code().value());
    };
    CHECK(finish([&] {
              break_it();
              CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
          }) == cudaErrorInvalidDevice);
    CHECK(finish([&] {
              break_it();
              static_cast<void>(cudaGetLastError());
          }) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    CHECK(finish([&] { std::thread(break_it).join(); }) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    CHECK(finish([&] {
              break_it();
              static_cast<void>(cudaGetLastError());
          }) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    CHECK(finish([&] { CHECK(break_it() == cudaErrorStreamCaptureUnsupported); }) == cudaErrorStreamCaptureUnsupported);
}

TEST_CASE("without a log a copy whose values CUDA refuses is told about kinds of memory, and no other failure",
          "[.][driver-12.8]") {
    const cudag::DeviceBuffer<int> from(1), to(1);
    GraphBuilder b;
    const auto copy = b.memcpy(to, from);
    cudag::Exec exec = std::move(b).build().instantiate();
    const auto why = [&](cudaError_t code) -> std::string {
        cudart_cpu::fail_call(1, code);
        return thrown<cudag::UpdateError>([&] { exec.update(copy, to, from); }).what();
    };
    CHECK_THAT(why(cudaErrorInvalidValue), ContainsSubstring("kind of memory"));
    CHECK_THAT(why(cudaErrorMemoryAllocation),
               ContainsSubstring("out of memory") && !ContainsSubstring("kind of memory"));
}

TEST_CASE("an error over a driver before CUDA 12.9 has no log, and leaves no last error", "[.][driver-12.8]") {
    for (int i = 0; i < 2; ++i) {
        const Error error = failing_call();
        CHECK(error.log().empty());
        CHECK_THAT(error.what(), ContainsSubstring("invalid device ordinal"));
        CHECK(cudaGetLastError() == cudaSuccess);
    }
}

namespace {

/// A graph with a node of each kind that has parameters, and what they work on.
struct EveryKind {
    EveryKind() : graph(build()) {}

    Graph build() {
        GraphBuilder inner;
        inner.memset(inside, 3).label("inside");
        const Graph small = std::move(inner).build();
        GraphBuilder b;
        const auto fill = b.memset(cells, 1).label("fill");
        const auto launch =
            b.kernel({.block = 4}, multiply_add, cells.data(), ones.data(), 4, 2).label("launch").after(fill);
        const auto copy = b.memcpy(host, cells).label("copy").after(launch);
        const auto tile =
            b.memcpy2d(cudag::DeviceSpan2D<int>(tiles.data(), 2, 2), cudag::DeviceSpan2D<int>(cells.data(), 2, 2))
                .label("tile")
                .after(launch);
        const auto call = b.host([this] { ++calls; }).label("call").after(copy, tile);
        b.record(first).label("record").after(b.join(call, b.child(small).label("child")));
        b.wait(first).label("wait");
        return std::move(b).build();
    }
    std::vector<int> run(cudag::Exec& exec) {
        cudag::memset_async(stream, cells, 0);
        cudag::memset_async(stream, ones, 1);
        exec.launch(stream);
        stream.synchronize();
        return host;
    }

    cudag::Stream stream;
    cudag::DeviceBuffer<int> cells{4}, ones{4}, tiles{4}, inside{1};
    std::vector<int> host = std::vector<int>(4);
    cudag::Event first, second;
    int calls = 0;
    Graph graph;
};

} // namespace

TEST_CASE("nodes of every kind are made, updated and read, whichever functions for them the driver has",
          "[versions][node-functions]") {
    EveryKind all;
    cudag::Exec exec = all.graph.instantiate();
    CHECK(all.run(exec) == std::vector{3, 3, 3, 3}); // 1 * 2 + 1
    const auto node = [&](const char* label) { return all.graph.find(label).at(0); };

    int others = 0;
    exec.update(node("fill").as<cudag::MemsetNode>(), all.cells, 5);
    exec.update(node("launch").as(multiply_add), cudag::arg<3>(3));
    exec.update(node("call").as<cudag::HostNode>(), [&others] { ++others; });
    exec.update(node("record").as<cudag::RecordNode>(), all.second);
    exec.update(node("wait").as<cudag::WaitNode>(), all.second);
    GraphBuilder inner;
    inner.memset(all.inside, 4);
    exec.update(node("child").as<cudag::ChildNode>(), std::move(inner).build());
    CHECK(all.run(exec) == std::vector{16, 16, 16, 16});
    CHECK(all.calls == 1);
    CHECK(others == 1);
    int inside = 0;
    cudag::check(cudaMemcpy(&inside, all.inside.data(), sizeof inside, cudaMemcpyDeviceToHost));
    CHECK(inside == 4);

    all.graph.update(node("fill").as<cudag::MemsetNode>(), all.cells, 7);
    all.graph.update(node("launch").as(multiply_add), cudag::arg<3>(10));
    all.graph.update(node("tile").as<cudag::MemcpyNode>(), cudag::DeviceSpan2D<int>(all.tiles.data(), 2, 2),
                     cudag::DeviceSpan2D<int>(all.ones.data(), 2, 2));
    all.graph.update(node("record").as<cudag::RecordNode>(), all.second);
    all.graph.update(node("call").as<cudag::HostNode>(), [&others] { others += 10; });
    cudaGraph_t clone = nullptr;
    cudag::check(cudaGraphClone(&clone, all.graph.native()));
    const Graph adopted = Graph::adopt(clone);
    CHECK(adopted.node_count() == all.graph.node_count());
    const auto differences = cudag::diff(all.graph, adopted);
    for (const cudag::Difference& difference : differences)
        UNSCOPED_INFO(to_string(difference));
    CHECK(differences.empty());
}

TEST_CASE("graph memory is made and freed, whichever functions for nodes the driver has",
          "[versions][node-functions]") {
    const cudag::Stream stream;
    std::vector<int> host(4);
    GraphBuilder b;
    const auto memory = b.alloc<int>(4);
    const auto fill = b.memset(memory.span(), 6).after(memory);
    const auto copy = b.memcpy(host, memory.span()).after(fill);
    b.free(memory).after(copy);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(host == std::vector{6, 6, 6, 6});
}

TEST_CASE("workqueues of green contexts need a driver of CUDA 13.1, their streams one of 12.5", "[versions]") {
    const cudag::GreenContextOptions options{.workqueues = cudag::WorkqueueConfig{4}};
    {
        const Versions older(13000);
        const auto error = thrown<Error>([&] { cudag::GreenContext(8, options); });
        CHECK(error.code().value() == cudaErrorNotSupported);
        CHECK_THAT(error.what(), ContainsSubstring("workqueues need a driver of CUDA 13.1; this one is of CUDA 13.0"));
    }
    const Versions enough(13010);
    CHECK(cudag::GreenContext(8, options).multiprocessors() == 8);
    CHECK_THAT(
        thrown<Error>([] { cudag::GreenContext(8, {.workqueues = cudag::WorkqueueConfig{.concurrency = 0}}); }).what(),
        ContainsSubstring("workqueues.concurrency is 0"));
    const cudag::GreenContext part(8);
    const Versions no_streams(12040);
    CHECK_THAT(thrown<Error>([&] { cudag::Stream stream(part); }).what(),
               ContainsSubstring("streams of green contexts need a driver of CUDA 12.5; this one is of CUDA 12.4"));
}
