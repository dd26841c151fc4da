// What updates of host, memcpy and memset nodes keep alive.
#include <memory>
#include <optional>

#include "gate.hpp"
#include "watched.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

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
    const auto set = b.memset(cells.span().subspan(0, 1), 1).after(copy);
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
