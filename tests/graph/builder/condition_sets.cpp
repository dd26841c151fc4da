// Conditions that are set from device memory, without a kernel of the user's.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "owners_sample.hpp"
#include "test.hpp"

using cudag::arg;
using cudag::Condition;
using cudag::DeviceScalar;
using cudag::DeviceSpan;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

/// An if on `condition` that writes 1 to `cell`.
cudag::IfNode mark_if(GraphBuilder& b, Condition condition, int* cell) {
    return b.if_(condition, [=](GraphBuilder& body) { body.kernel({}, store, cell, 1); });
}

} // namespace

TEST_CASE("a condition is what device memory holds when its node runs", "[conditional][set]") {
    if (older_than(12080)) return;
    const auto cell = device({0});
    DeviceScalar<int> value(0);
    GraphBuilder b;
    const Condition condition = b.condition(0);
    const auto set = b.set(condition, value).label("set");
    mark_if(b, condition, cell.data()).after(set);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    for (const int now : {0, 7, 0, -1}) {
        value.set(now, stream);
        write(cell.span(), {0});
        run(exec, stream);
        CHECK(read(cell) == std::vector{now != 0 ? 1 : 0});
    }
}

TEST_CASE("a condition is set from scalars, buffers and spans of unsigned and int", "[conditional][set]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0, 0, 0, 0});
    const DeviceScalar<unsigned> scalar(1U);
    const auto buffer = device({1});
    const auto many = device({0U, 1U, 0U});
    const cudag::PinnedBuffer<int> pinned(1);
    pinned.data()[0] = 1;
    const auto set_one = [&](int i, const auto& value) {
        GraphBuilder b;
        const Condition condition = b.condition(0);
        mark_if(b, condition, cells.data() + i).after(b.set(condition, value));
        run(std::move(b));
    };
    set_one(0, scalar);
    set_one(1, buffer);
    set_one(2, many.span().subspan(1, 1));
    set_one(3, DeviceSpan<const unsigned>(many.data() + 1, 1));
    set_one(4, pinned);
    CHECK(read(cells) == std::vector{1, 1, 1, 1, 1});
}

TEST_CASE("up to four conditions are set by one node", "[conditional][set]") {
    if (older_than(12080)) return;
    for (std::size_t count = 2; count <= 4; ++count)
        for (std::size_t one = 0; one < count; ++one) {
            CAPTURE(count, one);
            const auto cells = device({0, 0, 0, 0});
            const auto values = device({0, 0, 0, 0});
            std::vector<int> wanted(4);
            wanted[one] = 1;
            write(values.span(), wanted);
            const auto value = [&](std::size_t i) { return values.span().subspan(i, 1); };
            GraphBuilder b;
            std::vector<Condition> c;
            for (std::size_t i = 0; i < count; ++i)
                c.push_back(b.condition(1));
            cudag::Node set;
            if (count == 2) set = b.set(c[0], value(0), c[1], value(1));
            if (count == 3) set = b.set(c[0], value(0), c[1], value(1), c[2], value(2));
            if (count == 4) set = b.set(c[0], value(0), c[1], value(1), c[2], value(2), c[3], value(3));
            for (std::size_t i = 0; i < count; ++i)
                mark_if(b, c[i], cells.data() + i).after(set);
            const Graph graph = std::move(b).build();
            CHECK(graph.node_count() == count + 1);
            Exec exec = graph.instantiate();
            run(exec, Stream());
            CHECK(read(cells) == wanted);
        }
}

TEST_CASE("an update sets a condition from other memory", "[conditional][set]") {
    if (older_than(12080)) return;
    const auto cell = device({0});
    const auto values = device({0, 1});
    GraphBuilder b;
    const Condition condition = b.condition(0);
    const auto set = b.set(condition, values.span().subspan(0, 1));
    mark_if(b, condition, cell.data()).after(set);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{0});
    exec.update(set, arg<1>(values.data() + 1));
    run(exec, Stream());
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("a loop may end by a condition that is set from memory", "[conditional][set]") {
    if (older_than(12080)) return;
    const auto left = device({3});
    const auto turns = device({0});
    GraphBuilder b;
    const Condition more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) {
        const auto count = body.kernel({}, add, left.data(), left.data(), -1);
        const auto turn = body.kernel({}, add, turns.data(), turns.data(), 1);
        body.set(more, left).after(count, turn);
    });
    run(std::move(b));
    CHECK(read(turns) == std::vector{3});
}

TEST_CASE("a graph keeps the memory that it sets a condition from", "[conditional][set]") {
    if (older_than(12080)) return;
    std::weak_ptr<void> memory;
    const auto cell = device({0});
    GraphBuilder b;
    const Condition condition = b.condition(0);
    {
        const DeviceScalar<int> value(1);
        memory = value.owner();
        mark_if(b, condition, cell.data()).after(b.set(condition, value));
    }
    CHECK_FALSE(memory.expired());
    const Stream stream;
    {
        Exec exec = std::move(b).build().instantiate();
        run(exec, stream);
        CHECK(read(cell) == std::vector{1});
    }
    CHECK(released(memory, stream));
}

TEST_CASE("memory of more or less than one number sets no condition", "[conditional][set]") {
    if (older_than(12080)) return;
    const auto two = device({1, 1});
    GraphBuilder b;
    const Condition condition = b.condition(0);
    const auto error = refused<GraphError>([&] { b.set(condition, two); });
    CHECK_THAT(error.what(), ContainsSubstring("a condition takes one value, not 2") &&
                                 ContainsSubstring("subspan(i, 1)") && ContainsSubstring("condition_sets.cpp:"));
    CHECK_THROWS_AS(b.set(condition, DeviceSpan<int>()), GraphError);
    CHECK_THROWS_AS(b.set(condition, two.span().subspan(0, 1), b.condition(0), two), GraphError);
    mark_if(b, condition, two.data());
}

TEST_CASE("a condition of another graph is not set", "[conditional][set]") {
    if (older_than(12080)) return;
    const auto value = device({1});
    GraphBuilder other, b;
    const Condition condition = other.condition(0);
    CHECK_THROWS_AS(b.set(condition, value), GraphError);
    CHECK(std::move(b).build().node_count() == 0);
}
