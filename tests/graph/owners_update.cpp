// What updates keep alive: until the last launch that may use it has ended.
#include <memory>
#include <optional>

#include "gate.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::LaunchConfig;
using cudag::Stream;
using cudag::UpdateError;

namespace {

/// A graph behind a gate: *to = *from + value, which starts with borrowed cells.
struct Sample {
    DeviceBuffer<int> borrowed = device({0, 0});
    Stream stream;
    Gate gate;
    cudag::KernelNode<int*, const int*, int> node;
    Graph graph = build();
    std::optional<Exec> exec = graph.instantiate();

    void launch_held_up() {
        exec->launch(stream);
        gate.wait_until_entered();
    }

  private:
    Graph build() {
        GraphBuilder b;
        const auto wait = b.host(gate.node());
        node = b.kernel({}, add, borrowed.data(), borrowed.data() + 1, 7).label("add").after(wait);
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("an updated argument lives as long as it is in force", "[owners][update]") {
    Watched cell;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(cell.take()));
    CHECK(cell.alive());
    run(*s.exec, s.stream);
    run(*s.exec, s.stream);
    CHECK(cell.value() == 7);
    CHECK(cell.alive());
    s.exec.reset();
    CHECK(released(cell, s.stream));
}

TEST_CASE("an updated argument that no launch has used goes with the exec", "[owners][update]") {
    Watched cell;
    Sample s;
    s.exec->update(s.node, arg<0>(cell.take()));
    s.exec.reset();
    CHECK_FALSE(cell.alive());
}

TEST_CASE("a replaced argument that no launch has used goes at once", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.exec->update(s.node, arg<0>(second.take()));
    CHECK_FALSE(first.alive());
    CHECK(second.alive());
}

TEST_CASE("a replaced argument goes when the launch that used it has ended", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    CHECK(first.alive());
    CHECK(second.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(first.value() == 7);
    CHECK(second.alive());
    run(*s.exec, s.stream);
    CHECK(second.value() == 7);
}

TEST_CASE("an argument replaced after its launch has ended goes", "[owners][update]") {
    Watched first;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(first.take()));
    run(*s.exec, s.stream);
    CHECK(first.alive());
    s.exec->update(s.node, arg<0>(s.borrowed));
    CHECK(released(first, s.stream));
}

TEST_CASE("arguments replaced twice in flight both go when the launch has ended", "[owners][update]") {
    Watched first;
    Watched second;
    Watched third;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec->update(s.node, arg<0>(third.take()));
    CHECK(first.alive());
    CHECK(third.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(released(second, s.stream));
    CHECK(third.alive());
}

TEST_CASE("each launch in flight keeps the argument of its time", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec->launch(s.stream);
    s.exec->update(s.node, arg<0>(s.borrowed));
    CHECK(first.alive());
    CHECK(second.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(released(second, s.stream));
    CHECK(first.value() == 7);
    CHECK(second.value() == 7);
}

TEST_CASE("an argument that is still launched stays through many launches", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(first.take()));
    for (int i = 0; i < 20; ++i) {
        s.exec->launch(s.stream);
        CHECK(first.alive());
    }
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec->launch(s.stream);
    CHECK(released(first, s.stream));
    CHECK(second.alive());
}

TEST_CASE("an exec destroyed in flight keeps its updates' owners until the launch has ended", "[owners][update]") {
    Watched cell;
    Sample s;
    s.exec->update(s.node, arg<0>(cell.take()));
    s.launch_held_up();
    s.exec.reset();
    CHECK(cell.alive());
    s.gate.open();
    CHECK(released(cell, s.stream));
    CHECK(cell.value() == 7);
}

TEST_CASE("an exec destroyed in flight keeps what was replaced before, too", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec.reset();
    CHECK(first.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(released(second, s.stream));
    CHECK(first.value() == 7);
}

TEST_CASE("replacing one argument keeps the owners of the others", "[owners][update]") {
    Watched to;
    Watched from;
    Watched other;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, to.take(), from.take(), 1);
    s.exec->update(s.node, arg<0>(other.take()));
    CHECK_FALSE(to.alive());
    CHECK(from.alive());
    s.exec->update(s.node, arg<2>(5));
    s.exec->update(s.node, LaunchConfig{.block = 1});
    CHECK(from.alive());
    CHECK(other.alive());
    run(*s.exec, s.stream);
    CHECK(other.value() == 5);
    s.exec->update(s.node, s.borrowed, s.borrowed, 1);
    CHECK(released(from, s.stream));
    CHECK(released(other, s.stream));
}

TEST_CASE("two nodes' owners are told apart", "[owners][update]") {
    Watched first;
    Watched second;
    const DeviceBuffer<int> cells(2);
    GraphBuilder b;
    const auto x = b.kernel({}, store, cells.data(), 1);
    const auto y = b.kernel({}, store, cells.data() + 1, 2);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(x, arg<0>(first.take()));
    exec.update(y, arg<0>(second.take()));
    const Stream stream;
    run(exec, stream);
    exec.update(x, cells, 5);
    CHECK(released(first, stream));
    CHECK(second.alive());
    CHECK(second.value() == 2);
}

TEST_CASE("a refused update keeps nothing and lets nothing go", "[owners][update]") {
    Watched in_force;
    const DeviceBuffer<int> refused_cell(1);
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(in_force.take()));
    static_cast<void>(refused<UpdateError>(
        [&] { s.exec->update(s.node, LaunchConfig{.block = 2048}, refused_cell, refused_cell, 1); }));
    CHECK(refused_cell.owner().use_count() == 1);
    CHECK(in_force.alive());
    run(*s.exec, s.stream);
    CHECK(in_force.value() == 7);
}

TEST_CASE("an updated callable is kept, and goes when it is replaced", "[owners][update]") {
    auto first = std::make_shared<int>(0);
    auto second = std::make_shared<int>(0);
    const std::weak_ptr<int> first_watch = first;
    const std::weak_ptr<int> second_watch = second;
    GraphBuilder b;
    const auto node = b.host([] {});
    const Graph graph = std::move(b).build();
    std::optional<Exec> exec = graph.instantiate();
    const Stream stream;
    exec->update(node, [owner = std::move(first)] { ++*owner; });
    run(*exec, stream);
    REQUIRE_FALSE(first_watch.expired());
    CHECK(*first_watch.lock() == 1);
    exec->update(node, [owner = std::move(second)] { ++*owner; });
    CHECK(released(first_watch, stream));
    run(*exec, stream);
    CHECK_FALSE(second_watch.expired());
    exec.reset();
    CHECK(released(second_watch, stream));
}

TEST_CASE("a callable replaced while it is held up still runs to its end", "[owners][update]") {
    const auto calls = std::make_shared<int>(0);
    const Stream stream;
    Gate gate;
    GraphBuilder b;
    const auto node = b.host([] {});
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto held_up = gate.node();
    exec.update(node, [calls, held_up] {
        held_up();
        ++*calls;
    });
    exec.launch(stream);
    gate.wait_until_entered();
    exec.update(node, [] {});
    CHECK(calls.use_count() == 2);
    gate.open();
    stream.synchronize();
    CHECK(*calls == 1);
    const std::weak_ptr<int> watch = calls;
    for (int i = 0; i < 2000 && calls.use_count() != 1; ++i)
        stream.synchronize();
    CHECK(calls.use_count() == 1);
}

TEST_CASE("operands of copies and memsets are kept by updates", "[owners][update]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto copy = b.memcpy(cells.span().subspan(0, 1), cells.span().subspan(1, 1));
    const auto set = b.memset(cells.span().subspan(0, 1), 1);
    const Graph graph = std::move(b).build();
    std::optional<Exec> exec = graph.instantiate();
    const Stream stream;
    std::weak_ptr<void> from;
    std::weak_ptr<void> to;
    std::weak_ptr<void> filled;
    {
        const DeviceBuffer<int> source(1);
        const DeviceBuffer<int> destination(1);
        const DeviceBuffer<int> range(1);
        from = source.owner();
        to = destination.owner();
        filled = range.owner();
        exec->update(copy, destination, source);
        exec->update(set, range, 2);
    }
    CHECK_FALSE(from.expired());
    CHECK_FALSE(to.expired());
    CHECK_FALSE(filled.expired());
    run(*exec, stream);
    exec->update(copy, cells.span().subspan(0, 1), cells.span().subspan(1, 1));
    CHECK(released(from, stream));
    CHECK(released(to, stream));
    CHECK_FALSE(filled.expired());
    exec.reset();
    CHECK(released(filled, stream));
}

TEST_CASE("memory of a buffer given to an update is freed after the launch that uses it", "[owners][update]") {
    const cudag::PinnedBuffer<int> result(1);
    Sample s;
    std::weak_ptr<void> memory;
    {
        const auto from = device({30});
        memory = from.owner();
        s.exec->update(s.node, result, from, 3);
    }
    s.launch_held_up();
    s.exec->update(s.node, result, s.borrowed, 0);
    CHECK_FALSE(memory.expired());
    s.gate.open();
    s.stream.synchronize();
    CHECK(result[0] == 33);
    CHECK(released(memory, s.stream));
}
