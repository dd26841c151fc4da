// What comes after a disabled memset waits for what comes before it, whichever way the node and its size came about.
#include <chrono>
#include <thread>

#include "gate.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::MemsetNode;
using cudag::Node;
using cudag::Stream;

namespace {

/// Graphs of a gate > a memset > a kernel > a record, and whether the gate holds the record up.
struct HeldLine {
    Stream stream;
    cudag::Event event;
    DeviceBuffer<int> cells = device(std::vector<int>(16384, 0));
    DeviceBuffer<int> stored = device({0});
    Gate gate;

    Graph make(std::size_t elements, int value, MemsetNode* memset = nullptr) {
        GraphBuilder b;
        const auto held = b.host(gate.node());
        const auto fill = b.memset(cells.span().subspan(0, elements), value).label("fill").after(held);
        const auto after = b.kernel({}, store, stored, 1).after(fill);
        b.record(event).after(after);
        if (memset != nullptr) *memset = fill;
        return std::move(b).build();
    }

    /// Whether what comes after the memset is held up by the gate.
    bool keeps_order(Exec& exec) {
        gate.close();
        exec.launch(stream);
        gate.wait_until_entered();
        bool passed = false;
        for (int i = 0; i < 30 && !passed; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            const cudaError_t status = cudaEventQuery(event.get());
            REQUIRE((status == cudaSuccess || status == cudaErrorNotReady));
            passed = status == cudaSuccess;
        }
        gate.open();
        cudag::check(cudaDeviceSynchronize());
        return !passed;
    }
    /// The first cell after a launch.
    int filled(Exec& exec) {
        write(cells.span().subspan(0, 1), {-1});
        gate.open();
        run(exec, stream);
        return read(cells.span().subspan(0, 1)).front();
    }
};

constexpr std::size_t small = 64;
constexpr std::size_t large = 16384; // 64 KiB

} // namespace

TEST_CASE("what comes after a disabled memset waits for what comes before it", "[exec][enable][memset]") {
    HeldLine line;
    MemsetNode memset;
    for (const std::size_t elements : {std::size_t{1}, small, std::size_t{1024}, std::size_t{1025}, large}) {
        Exec exec = line.make(elements, 7, &memset).instantiate();
        CHECK(line.keeps_order(exec));
        exec.disable(memset);
        CHECK_FALSE(exec.is_enabled(memset));
        CHECK(line.keeps_order(exec));
        CHECK(line.filled(exec) == -1);
        exec.enable(memset);
        CHECK(exec.is_enabled(memset));
        CHECK(line.keeps_order(exec));
        CHECK(line.filled(exec) == 7);
    }
}

TEST_CASE("a disabled memset that is updated keeps the order, and is filled when it is enabled",
          "[exec][enable][memset]") {
    HeldLine line;
    MemsetNode memset;
    Exec exec = line.make(small, 7, &memset).instantiate();
    exec.disable(memset);
    for (const std::size_t elements : {std::size_t{2}, large, small}) {
        exec.update(memset, line.cells.span().subspan(0, elements), 8);
        CHECK_FALSE(exec.is_enabled(memset));
        CHECK(line.keeps_order(exec));
        CHECK(line.filled(exec) == -1);
    }
    exec.enable(memset);
    CHECK(line.filled(exec) == 8);
}

TEST_CASE("a refused update of a disabled memset leaves the former parameters to be enabled",
          "[exec][enable][memset]") {
    HeldLine line;
    MemsetNode memset;
    Exec exec = line.make(small, 7, &memset).instantiate();
    exec.disable(memset);
    static_cast<void>(refused<cudag::UpdateError>(
        [&] { exec.update(memset, cudag::DeviceSpan<int>(line.cells.data(), std::size_t{1} << 40U), 9); }));
    CHECK(line.keeps_order(exec));
    exec.enable(memset);
    CHECK(line.filled(exec) == 7);
}

TEST_CASE("a disabled memset keeps the order, and stays disabled, when its graph is applied",
          "[exec][enable][memset]") {
    HeldLine line;
    MemsetNode memset;
    Graph graph = line.make(small, 7, &memset);
    Exec exec = graph.instantiate();
    exec.disable(memset);
    graph.update(memset, line.cells.span().subspan(0, 2), 8);
    CHECK(exec.apply(graph) == 1);
    CHECK_FALSE(exec.is_enabled(memset));
    CHECK(line.keeps_order(exec));
    CHECK(line.filled(exec) == -1);
    exec.enable(memset);
    CHECK(line.filled(exec) == 8);
}

TEST_CASE("a disabled memset keeps the order, and stays disabled, in updates of the whole graph",
          "[exec][enable][memset]") {
    HeldLine line;
    MemsetNode memset;
    Exec exec = line.make(small, 7, &memset).instantiate();
    exec.disable(memset);
    for (const auto& [elements, value] : {std::pair{std::size_t{2}, 8}, {large, 9}, {small, 10}}) {
        const Graph next = line.make(elements, value);
        REQUIRE(exec.update(next).updated());
        CHECK_FALSE(exec.is_enabled(memset));
        CHECK(line.keeps_order(exec));
        CHECK(line.filled(exec) == -1);
    }
    REQUIRE(exec.update_or_instantiate(line.make(small, 11)).updated());
    CHECK(line.keeps_order(exec));
    exec.enable(memset);
    CHECK(line.filled(exec) == 11);
    CHECK(exec.is_enabled(memset));
}

TEST_CASE("a memset of a captured graph keeps the order when it is disabled", "[exec][enable][memset]") {
    HeldLine line;
    cudag::DeviceScalar<int> scalar(0);
    const auto record = [&] {
        return cudag::capture(line.stream, [&](cudag::StreamCapture& c) {
            cudag::check(cudaLaunchHostFunc(
                c.stream(), [](void* gate) { static_cast<Gate*>(gate)->node()(); }, &line.gate));
            c.step("set", [&] { scalar.set(5, line.stream); });
            cudag::launch(c.stream(), {}, store, line.stored, 1);
            cudag::check(cudaEventRecordWithFlags(line.event.get(), c.stream(), cudaEventRecordExternal));
        });
    };
    const Graph graph = record();
    Exec exec = graph.instantiate();
    const Node set = graph.find("set").at(0);
    exec.disable(set);
    CHECK(line.keeps_order(exec));
    CHECK(scalar.get(line.stream) == 0);
    const Graph again = record();
    REQUIRE(exec.update(again).updated());
    CHECK_FALSE(exec.is_enabled(set));
    CHECK(line.keeps_order(exec));
    CHECK(scalar.get(line.stream) == 0);
    exec.enable(set);
    CHECK(line.keeps_order(exec));
    CHECK(scalar.get(line.stream) == 5);
}

TEST_CASE("a memset inside a child keeps the order when it is disabled", "[exec][enable][memset][child]") {
    HeldLine line;
    MemsetNode memset;
    const Graph inner = line.make(small, 7, &memset);
    GraphBuilder b;
    const auto child = b.child(inner).label("child");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    memset = child.inside(memset);
    exec.disable(memset);
    CHECK(line.keeps_order(exec));
    CHECK(line.filled(exec) == -1);
    exec.update(child, line.make(2, 8));
    CHECK_FALSE(exec.is_enabled(memset));
    CHECK(line.keeps_order(exec));
    CHECK(line.filled(exec) == -1);
    exec.enable(memset);
    CHECK(line.filled(exec) == 8);
}

TEST_CASE("a memset in the body of a conditional can be disabled, updated and enabled",
          "[exec][enable][memset][conditional]") {
    const auto cells = device({0, 0, 0, 0});
    const Stream stream;
    GraphBuilder b;
    MemsetNode memset;
    const cudag::Condition condition = b.condition(1);
    b.if_(condition, [&](GraphBuilder& body) {
        const auto first = body.kernel({}, store, cells.data() + 1, 5);
        memset = body.memset(cells.span().subspan(0, 1), 7).after(first);
        body.kernel({}, add, cells.data() + 2, cells.data() + 1, 10).after(memset);
    });
    Exec exec = std::move(b).build().instantiate();
    exec.disable(memset);
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 5, 15, 0});
    exec.update(memset, cells.span().subspan(3, 1), 8);
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 5, 15, 0});
    exec.enable(memset);
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 5, 15, 8});
}

TEST_CASE("of two disabled memsets one can be enabled, and the other stays disabled in updates of the whole graph",
          "[exec][enable][memset]") {
    const auto cells = device({0, 0});
    MemsetNode first;
    MemsetNode second;
    const auto build = [&](int value) {
        GraphBuilder b;
        first = b.memset(cells.span().subspan(0, 1), value);
        second = b.memset(cells.span().subspan(1, 1), value);
        return std::move(b).build();
    };
    const Graph next = build(2);
    Exec exec = build(1).instantiate();
    exec.disable(first);
    exec.disable(second);
    exec.enable(first);
    CHECK(exec.update(next).updated());
    CHECK(exec.is_enabled(first));
    CHECK_FALSE(exec.is_enabled(second));
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == std::vector{2, 0});
}

TEST_CASE("a memset is disabled and enabled on its own device, whichever is the current one",
          "[exec][enable][memset][device]") {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    if (count < 2) {
        WARN("skipped: it needs two devices, and there is one");
        return;
    }
    HeldLine line;
    MemsetNode memset;
    Exec exec = line.make(small, 7, &memset).instantiate();
    cudag::check(cudaSetDevice(1));
    exec.disable(memset);
    cudag::check(cudaSetDevice(0));
    CHECK(line.keeps_order(exec));
    CHECK(line.filled(exec) == -1);
    cudag::check(cudaSetDevice(1));
    exec.enable(memset);
    cudag::check(cudaSetDevice(0));
    CHECK(line.filled(exec) == 7);
}

TEST_CASE("two Execs of a graph disable their memsets apart, also while a stream is captured",
          "[exec][enable][memset]") {
    HeldLine line;
    MemsetNode memset;
    const Graph graph = line.make(small, 7, &memset);
    Exec first = graph.instantiate();
    Exec second = graph.instantiate();
    const Stream captured;
    cudag::StreamCapture capture(captured, {.mode = cudag::CaptureMode::global});
    first.disable(memset);
    cudag::launch(captured, {}, store, line.stored, 1);
    CHECK(std::move(capture).finish().node_count() == 1);
    CHECK(line.keeps_order(first));
    CHECK(line.filled(first) == -1);
    CHECK(line.filled(second) == 7);
}

TEST_CASE("a memset at the place where a child has a disabled one is updated as any other", "[exec][disable]") {
    const auto cells = device({0, 0});
    MemsetNode inside;
    const auto build = [&](int value, MemsetNode& fill) {
        GraphBuilder inner, b;
        inside = inner.memset(cells.span().subspan(1, 1), value);
        const Graph child_graph = std::move(inner).build();
        fill = b.memset(cells.span().subspan(0, 1), value);
        inside = b.child(child_graph).inside(inside);
        return std::move(b).build();
    };
    MemsetNode fill, other_fill;
    const Graph graph = build(1, fill);
    const MemsetNode disabled = inside;
    Exec exec = graph.instantiate();
    exec.disable(disabled);
    REQUIRE(exec.update(build(2, other_fill)).updated());
    CHECK(exec.is_enabled(fill));
    CHECK_FALSE(exec.is_enabled(disabled));
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == std::vector{2, 0});
    exec.update(fill, cells.span().subspan(0, 1), 3);
    run(exec, stream);
    CHECK(read(cells) == std::vector{3, 0});
    exec.enable(disabled);
    run(exec, stream);
    CHECK(read(cells) == std::vector{3, 2});
}
