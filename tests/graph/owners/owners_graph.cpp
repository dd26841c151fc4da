// What nodes keep alive: as long as the graph, a clone, an exec or a launch in flight needs it, and no longer.
#include <memory>
#include <optional>

#include "gate.hpp"
#include "watched.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::PinnedBuffer;
using cudag::Stream;

namespace {

/// A graph that stores 7 in a watched cell.
Graph store_7(Watched& cell) {
    GraphBuilder b;
    b.kernel({}, store, cell.take(), 7);
    return std::move(b).build();
}

} // namespace

TEST_CASE("a buffer may go before its graph is launched", "[owners]") {
    const PinnedBuffer<int> result(1);
    const Stream stream;
    std::weak_ptr<void> memory;
    {
        std::optional<Exec> exec;
        {
            GraphBuilder b;
            const DeviceBuffer<int> cell(1);
            memory = cell.owner();
            const auto fill = b.kernel({}, store, cell, 7);
            b.memcpy(result, cell).after(fill);
            exec = std::move(b).build().instantiate();
        }
        CHECK_FALSE(memory.expired());
        run(*exec, stream);
        CHECK(result[0] == 7);
        CHECK_FALSE(memory.expired());
    }
    CHECK(released(memory, stream));
}

TEST_CASE("every kind of owner is kept with the graph and goes with it", "[owners]") {
    const auto cell = device({0});
    std::weak_ptr<void> watch;
    std::optional<GraphBuilder> b(std::in_place);
    SECTION("a DeviceBuffer of a kernel") {
        const DeviceBuffer<int> owner(1);
        watch = owner.owner();
        b->kernel({}, store, owner, 1);
    }
    SECTION("a PinnedBuffer of a kernel") {
        const PinnedBuffer<int> owner(1);
        watch = owner.owner();
        b->kernel({}, store, owner, 1);
    }
    SECTION("a buffer of a span parameter") {
        const DeviceBuffer<int> owner(1);
        watch = owner.owner();
        b->kernel({}, sum, cell, owner);
    }
    SECTION("a shared_ptr of a kernel") {
        const std::shared_ptr<int> owner(cell.data(), [](int*) {});
        watch = owner;
        b->kernel({}, store, owner, 1);
    }
    SECTION("a shared_ptr to a buffer, of a kernel") {
        const auto owner = std::make_shared<DeviceBuffer<int>>(1);
        watch = owner->owner();
        b->kernel({}, store, owner, 1);
    }
    SECTION("the source of a copy") {
        const DeviceBuffer<int> owner(1);
        watch = owner.owner();
        b->memcpy(cell, owner);
    }
    SECTION("the destination of a copy") {
        const PinnedBuffer<int> owner(1);
        watch = owner.owner();
        b->memcpy(owner, cell);
    }
    SECTION("a shared vector of a copy") {
        const auto owner = std::make_shared<std::vector<int>>(1);
        watch = owner;
        b->memcpy(cell, owner);
    }
    SECTION("the range of a memset") {
        const DeviceBuffer<int> owner(1);
        watch = owner.owner();
        b->memset(owner, 1);
    }
    SECTION("a callable") {
        const auto owner = std::make_shared<int>(1);
        watch = owner;
        b->host([owner] {});
    }
    CHECK_FALSE(watch.expired());
    const Stream stream;
    std::optional<Graph> graph = std::move(*b).build();
    CHECK_FALSE(watch.expired());
    {
        Exec exec = graph->instantiate();
        run(exec, stream);
    }
    CHECK_FALSE(watch.expired());
    graph.reset();
    CHECK(released(watch, stream));
}

TEST_CASE("a builder that is never built lets its owners go", "[owners]") {
    Watched cell;
    {
        GraphBuilder b;
        b.kernel({}, store, cell.take(), 1);
        CHECK(cell.alive());
    }
    CHECK_FALSE(cell.alive());
}

TEST_CASE("a span and a raw pointer are borrowed", "[owners]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    b.kernel({}, store, cell.span(), 1);
    b.kernel({}, store, cell.data(), 1);
    b.memset(cell.span(), 1);
    CHECK(cell.owner().use_count() == 1);
}

TEST_CASE("an exec keeps the owners when its graph is gone", "[owners]") {
    Watched cell;
    const Stream stream;
    {
        Exec exec = store_7(cell).instantiate();
        CHECK(cell.alive());
        run(exec, stream);
        CHECK(cell.value() == 7);
        CHECK(cell.alive());
    }
    CHECK(released(cell, stream));
}

TEST_CASE("a clone keeps the owners when the original is gone", "[owners][clone]") {
    Watched cell;
    const Stream stream;
    std::optional<Graph> graph = store_7(cell);
    {
        const Graph clone = graph->clone();
        graph.reset();
        CHECK(cell.alive());
        Exec exec = clone.instantiate();
        run(exec, stream);
        CHECK(cell.value() == 7);
    }
    CHECK(released(cell, stream));
}

TEST_CASE("an exec of a clone keeps the owners when both graphs are gone", "[owners][clone]") {
    Watched cell;
    const Stream stream;
    {
        Exec exec = store_7(cell).clone().instantiate();
        CHECK(cell.alive());
        run(exec, stream);
        CHECK(cell.value() == 7);
    }
    CHECK(released(cell, stream));
}

TEST_CASE("a launch in flight keeps the owners when graph and exec are gone", "[owners]") {
    Watched cell;
    const Stream stream;
    Gate gate;
    {
        GraphBuilder b;
        const auto wait = b.host(gate.node());
        b.kernel({}, store, cell.take(), 7).after(wait);
        Exec exec = std::move(b).build().instantiate();
        exec.launch(stream);
        gate.wait_until_entered();
    }
    CHECK(cell.alive());
    CHECK_FALSE(stream.query());
    gate.open();
    CHECK(released(cell, stream));
    CHECK(cell.value() == 7);
}

TEST_CASE("a callable in flight is kept when graph and exec are gone", "[owners]") {
    const auto shared = std::make_shared<int>(0);
    const std::weak_ptr<int> watch = shared;
    const Stream stream;
    Gate gate;
    {
        GraphBuilder b;
        const auto wait = b.host(gate.node());
        b.host([owner = std::make_shared<std::shared_ptr<int>>(shared)] { **owner = 9; }).after(wait);
        Exec exec = std::move(b).build().instantiate();
        exec.launch(stream);
        gate.wait_until_entered();
    }
    CHECK(shared.use_count() == 2);
    gate.open();
    stream.synchronize();
    CHECK(*shared == 9);
    for (int i = 0; i < 20000 && shared.use_count() != 1; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stream.synchronize();
    }
    CHECK(shared.use_count() == 1);
}

TEST_CASE("a refused node keeps nothing", "[owners]") {
    const DeviceBuffer<int> cell(1);
    const DeviceBuffer<int> two(2);
    GraphBuilder b;
    static_cast<void>(refused<GraphError>([&] { b.kernel({.block = 2048}, store, cell, 1); }));
    static_cast<void>(refused<GraphError>([&] { b.kernel({}, store, cell, 1LL << 40U); }));
    static_cast<void>(refused<GraphError>([&] { b.memcpy(cell, two); }));
    static_cast<void>(refused<GraphError>([&] { b.memset(cell, 1LL << 40U); }));
    CHECK(cell.owner().use_count() == 1);
    CHECK(two.owner().use_count() == 1);
}

TEST_CASE("one owner in several nodes goes when all are gone", "[owners]") {
    Watched cell;
    const Stream stream;
    {
        const std::shared_ptr<int> shared = cell.take();
        GraphBuilder first;
        first.kernel({}, store, shared, 1);
        first.kernel({}, store, shared, 2);
        std::optional<Graph> graph = std::move(first).build();
        GraphBuilder second;
        second.kernel({}, store, shared, 3);
        const Graph other = std::move(second).build();
        graph.reset();
        CHECK(cell.alive());
        Exec exec = other.instantiate();
        run(exec, stream);
        CHECK(cell.value() == 3);
    }
    CHECK(released(cell, stream));
}

TEST_CASE("what a builder or a graph retains goes with the last that may use it", "[owners]") {
    const Stream stream;
    auto of_builder = std::make_shared<int>(1), of_graph = std::make_shared<int>(2);
    const std::weak_ptr<int> first = of_builder, second = of_graph;
    std::optional<Exec> exec;
    {
        GraphBuilder b;
        b.host([] {});
        b.retain(of_builder, std::shared_ptr<int>());
        Graph graph = std::move(b).build();
        graph.retain(of_graph);
        of_builder.reset();
        of_graph.reset();
        exec = graph.instantiate();
    }
    run(*exec, stream);
    CHECK_FALSE(first.expired());
    CHECK_FALSE(second.expired());
    exec.reset();
    CHECK(released(first, stream));
    CHECK(released(second, stream));
}

TEST_CASE("what nodes retain, before and after their graph is built, lives as long as a launch of it", "[owners]") {
    const Stream stream;
    Watched first, inside, later;
    std::optional<Exec> exec;
    {
        GraphBuilder b;
        const auto node = b.kernel({}, store, first.watch().lock().get(), 5).retain(first.take()).label("first");
        CHECK(node.label() == "first");
        const cudag::Condition condition = b.condition(1);
        b.if_(condition, [&](GraphBuilder& body) {
            body.kernel({}, store, inside.watch().lock().get(), 6).retain(inside.take());
        });
        Graph graph = std::move(b).build();
        node.retain(later.take(), std::shared_ptr<int>());
        exec = graph.instantiate();
        CHECK_THROWS_AS(cudag::KernelNode<>().retain(std::make_shared<int>()), cudag::GraphError);
    }
    run(*exec, stream);
    CHECK(first.value() == 5);
    CHECK(inside.value() == 6);
    CHECK(later.alive());
    exec.reset();
    CHECK(released(first, stream));
    CHECK(released(inside, stream));
    CHECK(released(later, stream));
}

TEST_CASE("a graph's clone keeps what the graph retained", "[owners]") {
    Watched cell;
    std::optional<Graph> clone;
    {
        GraphBuilder b;
        b.kernel({}, store, cell.watch().lock().get(), 5);
        Graph graph = std::move(b).build();
        graph.retain(cell.take());
        clone = graph.clone();
    }
    CHECK(cell.alive());
    Exec exec = clone->instantiate();
    run(exec, Stream());
    CHECK(cell.value() == 5);
}

TEST_CASE("after native() was asked for, clones and Execs keep the owners, too", "[owners][clone]") {
    Watched cell;
    const Stream stream;
    std::optional<Exec> exec;
    {
        const Graph graph = store_7(cell);
        CHECK(graph.native() != nullptr);
        {
            Exec first = graph.instantiate();
            run(first, stream);
        }
        const Graph clone = graph.clone();
        GraphBuilder outer;
        outer.child(clone);
        CHECK(clone.native() != nullptr);
        exec = std::move(outer).build().instantiate();
    }
    CHECK(cell.alive());
    run(*exec, stream);
    CHECK(cell.value() == 7);
    exec.reset();
    CHECK(released(cell, stream));
}
