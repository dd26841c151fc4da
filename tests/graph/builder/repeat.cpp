// Bodies that are run a number of times.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "owners_sample.hpp"
#include "test.hpp"

#include <stdexcept>

using cudag::Condition;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

cudag::WhileNode count_turns(GraphBuilder& b, unsigned times, int* cell) {
    return b.repeat(times, [=](GraphBuilder& body) { body.kernel({}, add, cell, cell, 1); });
}

} // namespace

TEST_CASE("a body is repeated as often as it says, in every launch", "[conditional][repeat]") {
    if (older_than(12080)) return;
    for (const unsigned times : {0U, 1U, 2U, 5U}) {
        CAPTURE(times);
        const auto cell = device({0});
        GraphBuilder b;
        count_turns(b, times, cell.data());
        Exec exec = std::move(b).build().instantiate();
        const Stream stream;
        for (int launch = 1; launch <= 3; ++launch) {
            run(exec, stream);
            CHECK(read(cell) == std::vector{launch * static_cast<int>(times)});
        }
    }
}

TEST_CASE("turns come one after the other, between what comes before and after", "[conditional][repeat]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    GraphBuilder b;
    const auto first = b.kernel({}, store, x, 1);
    const auto loop = b.repeat(4, [&](GraphBuilder& body) { body.kernel({}, add, x, x, 10); }).after(first);
    b.kernel({}, add, x + 1, x, 0).after(loop);
    run(std::move(b));
    CHECK(read(cells) == std::vector{41, 41});
}

TEST_CASE("repetitions nest", "[conditional][repeat]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0});
    GraphBuilder b;
    b.repeat(3, [&](GraphBuilder& outer) {
        count_turns(outer, 2, cells.data());
        outer.kernel({}, add, cells.data() + 1, cells.data() + 1, 1);
    });
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    run(exec, stream);
    run(exec, stream);
    CHECK(read(cells) == std::vector{12, 6});
}

TEST_CASE("repetitions stand beside other conditionals", "[conditional][repeat]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 3, 0});
    GraphBuilder b;
    count_turns(b, 5, cells.data());
    const Condition more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) { body.kernel({}, count_down, cells.data() + 1, more); });
    count_turns(b, 2, cells.data() + 2);
    run(std::move(b));
    CHECK(read(cells) == std::vector{5, 0, 2});
}

TEST_CASE("a repetition has the node that counts beside those of its body", "[conditional][repeat]") {
    if (older_than(12080)) return;
    const auto cell = device({0});
    GraphBuilder b;
    const auto loop = count_turns(b, 2, cell.data()).label("twice");
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    REQUIRE(loop.body().node_count() == 2);
    CHECK(loop.body().nodes()[0].label() == "count of turns");
    CHECK(loop.body().nodes()[0].location().line == loop.location().line);
}

TEST_CASE("another exec of a repetition counts from the start", "[conditional][repeat]") {
    if (older_than(12080)) return;
    const auto cell = device({0});
    GraphBuilder b;
    count_turns(b, 3, cell.data());
    const Graph graph = std::move(b).build();
    const Stream stream;
    for (int i = 0; i < 2; ++i) {
        Exec exec = graph.instantiate();
        run(exec, stream);
    }
    CHECK(read(cell) == std::vector{6});
}

TEST_CASE("a number of turns that cannot be is refused", "[conditional][repeat]") {
    GraphBuilder b;
    const auto body = [](GraphBuilder&) {};
    CHECK_THAT(refused<cudag::GraphError>([&] { b.repeat(-1, body); }).what(),
               ContainsSubstring("repeat") && ContainsSubstring("the number of turns is negative") &&
                   ContainsSubstring("repeat.cpp:"));
    CHECK_THAT(refused<cudag::GraphError>([&] { b.repeat(1LL << 32, body); }).what(),
               ContainsSubstring("there are 2^32 turns or more; nest repetitions"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a body that throws leaves no repetition, and the builder goes on", "[conditional][repeat]") {
    if (older_than(12080)) return;
    const auto cell = device({0});
    GraphBuilder b;
    CHECK_THROWS_AS(b.repeat(3,
                             [&](GraphBuilder& body) {
                                 body.kernel({}, add, cell.data(), cell.data(), 100);
                                 throw std::runtime_error("no more");
                             }),
                    std::runtime_error);
    count_turns(b, 2, cell.data());
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{2});
}
