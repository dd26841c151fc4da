// PoolOrder: launches out of a stated order are refused by label, and so is freed borrowed memory.
#include <cudag/pool_order.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "test.hpp"

using cudag::CapturePool;
using cudag::DeviceBuffer;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::PoolOrder;
using cudag::Stream;

namespace {

Graph storing(const DeviceBuffer<int>& cell, int value, std::string_view name) {
    GraphBuilder b;
    b.kernel({}, store, cell, value);
    return std::move(b).build().name(name);
}

/// A graph that borrows `cell`, and keeps `pool`.
Graph borrowing(const CapturePool& pool, int* cell, std::string_view name) {
    GraphBuilder b;
    b.kernel({}, store, cell, 1).label("borrower");
    b.retain(pool);
    return std::move(b).build().name(name);
}

/// Three graphs of one pool, and an Exec of each.
struct Three {
    Stream stream;
    CapturePool pool{"activations"};
    DeviceBuffer<int> cell = pool.allocate<int>(1);
    Graph a = storing(cell, 1, "prefill"), b = storing(cell, 2, "decode"), c = storing(cell, 3, "sample");
    Exec first = a.instantiate(), second = b.instantiate(), third = c.instantiate();

    [[nodiscard]] PoolOrder order(cudag::PoolOrderOptions options = {.checked = true}) const {
        return PoolOrder(pool, {a, b, c}, options);
    }
    std::string refusal_of(Exec& exec) const {
        const std::uint64_t before = exec.replays();
        const auto error = refused<Error>([&] { exec.launch(stream); });
        CHECK(error.code() == cuda_code(cudaErrorNotPermitted));
        CHECK(exec.replays() == before);
        return error.what();
    }
};

} // namespace

TEST_CASE("graphs of a pool are launched in their order, round by round", "[memory][order]") {
    Three t;
    const PoolOrder order = t.order();
    CHECK(order.is_checked());
    for (int round = 0; round < 2; ++round)
        for (Exec* exec : {&t.first, &t.second, &t.third})
            exec->launch(t.stream);
    CHECK(order.launches() == 6);
    t.first.launch(t.stream);
    t.first.launch(t.stream); // begins again
    t.second.launch(t.stream);
    t.stream.synchronize();
    CHECK(read(t.cell) == std::vector{2});
}

TEST_CASE("a launch out of the order is refused by label, and changes nothing", "[memory][order]") {
    Three t;
    const PoolOrder order = t.order();
    const std::string at_first = t.refusal_of(t.second);
    CHECK_THAT(at_first, StartsWith("cudag: launch of an Exec of the graph \"decode\" made at "));
    CHECK_THAT(at_first, ContainsSubstring(": out of the order of CapturePool \"activations\" made at "));
    CHECK_THAT(at_first, ContainsSubstring(": at the beginning comes the graph \"prefill\" made at "));
    CHECK_THAT(at_first, ContainsSubstring("; launch that, or begin again with the graph \"prefill\""));
    t.first.launch(t.stream);
    const std::string skips = t.refusal_of(t.third);
    CHECK_THAT(skips, ContainsSubstring(": after the graph \"prefill\" made at "));
    CHECK_THAT(skips, ContainsSubstring(" comes the graph \"decode\" made at "));
    CHECK(refused<Error>([&] { t.third.launch(t.stream); }).labels() == Labels{"sample", "decode"});
    t.second.launch(t.stream);
    CHECK_THAT(t.refusal_of(t.second), ContainsSubstring("after the graph \"decode\""));
    t.third.launch(t.stream);
    CHECK(order.launches() == 3);
    t.stream.synchronize();
    CHECK(read(t.cell) == std::vector{3});
}

TEST_CASE("a round may skip or repeat graphs where it is allowed", "[memory][order]") {
    Three t;
    SECTION("skips") {
        const PoolOrder order = t.order({.checked = true, .may_skip = true});
        t.second.launch(t.stream);
        t.third.launch(t.stream);
        t.second.launch(t.stream); // a new round without the first graph
        CHECK_THAT(t.refusal_of(t.second), ContainsSubstring("after the graph \"decode\""));
        t.first.launch(t.stream); // another one, although the last is not over
        t.third.launch(t.stream);
        t.third.launch(t.stream); // alone in its round
        CHECK(order.launches() == 6);
    }
    SECTION("repeats") {
        const PoolOrder order = t.order({.checked = true, .may_repeat = true});
        t.first.launch(t.stream);
        t.second.launch(t.stream);
        t.second.launch(t.stream);
        t.third.launch(t.stream);
        CHECK_THAT(t.refusal_of(t.second), ContainsSubstring("after the graph \"sample\""));
    }
    SECTION("a restart begins a new round") {
        PoolOrder order = t.order({.checked = true, .may_skip = true});
        t.third.launch(t.stream);
        order.restart();
        t.second.launch(t.stream);
    }
    t.stream.synchronize();
}

TEST_CASE("launches are unchecked without the option, and after the end of the statement", "[memory][order]") {
    Three t;
    {
        const PoolOrder unchecked = t.order({});
        CHECK_FALSE(unchecked.is_checked());
        t.third.launch(t.stream);
        CHECK(unchecked.launches() == 0);
    }
    std::optional<PoolOrder> order = t.order();
    t.refusal_of(t.third);
    PoolOrder moved = *std::move(order);
    order.reset();
    t.refusal_of(t.third);
    CHECK(moved.launches() == 0);
    moved = t.order({});
    t.third.launch(t.stream);
    t.stream.synchronize();
}

TEST_CASE("CUDAG_CHECK=pools checks every order", "[.][checks]") {
    Three t;
    const PoolOrder order = t.order({});
    CHECK(order.is_checked());
    t.refusal_of(t.second);
}

TEST_CASE("a graph of the pool without a place in the order is refused, other graphs run", "[memory][order]") {
    Three t;
    const DeviceBuffer<int> own(1);
    Exec stranger = storing(t.cell, 9, "stranger").instantiate(), other = storing(own, 4, "other").instantiate();
    Exec copy = t.a.clone().instantiate();
    const PoolOrder order = t.order();
    const std::string text = t.refusal_of(stranger);
    CHECK_THAT(text, StartsWith("cudag: launch of an Exec of the graph \"stranger\" made at "));
    CHECK_THAT(text, ContainsSubstring("it keeps memory of CapturePool \"activations\""));
    CHECK_THAT(text, ContainsSubstring("is not in the order stated at "));
    t.refusal_of(copy);
    other.launch(t.stream);
    t.stream.synchronize();
    CHECK(read(own) == std::vector{4});
    CHECK(order.launches() == 0);
}

TEST_CASE("a launch that CUDA refuses keeps its place in the order", "[memory][order]") {
    Stream stream;
    CapturePool pool("activations");
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    GraphBuilder builder;
    const auto memory = builder.alloc<int>(1); // is not freed: a second launch fails
    builder.retain(pool);
    const Graph a = storing(cell, 1, "a"), b = std::move(builder).build().name("b");
    Exec first = a.instantiate(), second = b.instantiate();
    const PoolOrder order(pool, {a, b}, {.checked = true});
    first.launch(stream);
    second.launch(stream);
    first.launch(stream);
    refused<Error>([&] { second.launch(stream); });
    CHECK(order.launches() == 3);
    CHECK_THAT(refused<Error>([&] { second.launch(stream); }).what(), !ContainsSubstring("out of the order"));
    first.launch(stream);
    cudag::check(cudaFreeAsync(memory.span().data(), stream.get()));
    second.launch(stream);
    CHECK(order.launches() == 5);
    cudag::check(cudaFreeAsync(memory.span().data(), stream.get()));
    stream.synchronize();
}

TEST_CASE("an order that cannot be is refused", "[memory][order]") {
    Three t;
    const DeviceBuffer<int> own(1);
    const Graph other = storing(own, 1, "other");
    using Graphs = std::vector<std::reference_wrapper<const Graph>>;
    const auto text = [&](const Graphs& graphs) {
        return std::string(refused<GraphError>([&] { PoolOrder(t.pool, graphs); }).what());
    };
    CHECK_THAT(text({}), StartsWith("cudag: order of CapturePool \"activations\" made at "));
    CHECK_THAT(text({}), ContainsSubstring("there are no graphs"));
    CHECK_THAT(text({t.a, t.b, t.a}), ContainsSubstring("the graph \"prefill\" made at ") &&
                                          ContainsSubstring("is there twice; an order has each graph once"));
    CHECK_THAT(text({t.a, other}), ContainsSubstring("the graph \"other\" made at ") &&
                                       ContainsSubstring("keeps neither the pool nor a buffer of it"));
    Graph moved = std::move(t.a);
    refused<GraphError>([&] { PoolOrder(t.pool, {t.a}); });
    PoolOrder order(t.pool, {moved});
    const PoolOrder next = std::move(order);
    CHECK_THAT(refused<GraphError>([&] { order.restart(); }).what(), ContainsSubstring("a moved-from PoolOrder"));
    CapturePool gone = std::move(t.pool);
    refused<Error>([&] { PoolOrder(t.pool, {moved}); });
}

TEST_CASE("borrowed memory that was freed is found before a launch", "[memory][order]") {
    const Stream stream;
    CapturePool pool("activations"), elsewhere("elsewhere");
    std::optional<DeviceBuffer<int>> cell;
    const bool runs_before = GENERATE(false, true);
    CAPTURE(runs_before);
    SECTION("of CUDA") {
        cell.emplace(1);
    }
    SECTION("of another pool") {
        cell = elsewhere.allocate<int>(1);
    }
    SECTION("inside of an allocation") {
        cell.emplace(100);
    }
    const Graph graph = borrowing(pool, cell->data() + (cell->size() - 1), "decode");
    const PoolOrder order(pool, {graph}, {.checked = true});
    Exec exec = graph.instantiate();
    if (runs_before) exec.launch(stream);
    stream.synchronize();
    cell.reset();
    const auto error = refused<Error>([&] { exec.launch(stream); });
    CHECK(error.code() == cuda_code(cudaErrorIllegalAddress));
    CHECK_THAT(error.what(), StartsWith("cudag: launch of an Exec of the graph \"decode\" made at "));
    CHECK_THAT(error.what(), ContainsSubstring(": kernel \"borrower\" at "));
    CHECK_THAT(error.what(), ContainsSubstring(" borrows memory at 0x"));
    CHECK_THAT(error.what(), ContainsSubstring("which has been freed; keep it until the last launch"));
    CHECK(error.labels() == Labels{"decode", "borrower"});
    CHECK(order.launches() == (runs_before ? 1 : 0));
}

TEST_CASE("memory freed after an update of another argument is found", "[memory][order]") {
    const Stream stream;
    const CapturePool pool("activations");
    std::optional<DeviceBuffer<int>> cell(1);
    GraphBuilder b;
    const auto node = b.kernel({}, store, cell->data(), 1);
    b.retain(pool);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const PoolOrder order(pool, {graph}, {.checked = true});
    exec.update(node, cudag::arg<1>(2)); // not launched yet
    cell.reset();
    CHECK_THAT(refused<Error>([&] { exec.launch(stream); }).what(), ContainsSubstring("which has been freed"));
}

TEST_CASE("memory allocated anew at the same address counts as freed, until an update", "[memory][order]") {
    const Stream stream;
    CapturePool pool("activations"), elsewhere("elsewhere");
    std::optional<DeviceBuffer<int>> cell = elsewhere.allocate<int>(1);
    int* const address = cell->data();
    GraphBuilder b;
    const auto node = b.kernel({}, store, address, 1);
    b.retain(pool);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const PoolOrder order(pool, {graph}, {.checked = true});
    exec.launch(stream);
    stream.synchronize();
    cell.reset();
    cell = elsewhere.allocate<int>(1);
    REQUIRE(cell->data() == address);
    CHECK_THAT(refused<Error>([&] { exec.launch(stream); }).what(), ContainsSubstring("which has been freed"));
    exec.update(node, address, 5);
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(*cell) == std::vector{5});
    cell.reset();
    CHECK_THAT(refused<Error>([&] { exec.launch(stream); }).what(), ContainsSubstring("which has been freed"));
}

TEST_CASE("memory of the pool itself may pass from buffer to buffer", "[memory][order]") {
    const Stream stream;
    CapturePool pool("activations");
    std::optional<DeviceBuffer<int>> cell = pool.allocate<int>(1);
    int* const address = cell->data();
    const Graph a = borrowing(pool, address, "a");
    cell.reset(); // the next capture has the memory
    cell = pool.allocate<int>(1);
    REQUIRE(cell->data() == address);
    const Graph b = borrowing(pool, address, "b");
    Exec first = a.instantiate(), second = b.instantiate();
    const PoolOrder order(pool, {a, b}, {.checked = true});
    cell.reset();
    first.launch(stream);
    cell = pool.allocate<int>(1);
    second.launch(stream);
    stream.synchronize();
    CHECK(order.launches() == 2);
}

TEST_CASE("host memory, null pointers and graph memory are no borrowed device memory", "[memory][order]") {
    const Stream stream;
    CapturePool pool("activations");
    const DeviceBuffer<int> cell = pool.allocate<int>(2);
    std::vector<int> host{1, 2};
    GraphBuilder b;
    const auto up = b.memcpy(cell, host);
    const auto memory = b.alloc<int>(2, {.after = {up}});
    const auto copy = b.memcpy(memory.span(), cell).after(memory);
    b.free(memory).after(copy);
    const Graph graph = std::move(b).build();
    const PoolOrder order(pool, {graph}, {.checked = true});
    Exec exec = graph.instantiate();
    exec.launch(stream);
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cell) == host);
}
