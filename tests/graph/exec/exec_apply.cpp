// Exec::apply: what Graph::update changed, pushed to the execs of the graph.
#include "gate.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateError;

namespace {

using Cells = std::vector<int>;

/// Three stores, each to a cell of its own.
struct Stores {
    cudag::DeviceBuffer<int> cells = device({0, 0, 0});
    std::vector<cudag::KernelNode<int*, int>> nodes;
    Graph graph = build();
    Stream stream;

    Cells result(Exec& exec) {
        write(cells.span(), Cells(3, -1));
        run(exec, stream);
        return read(cells);
    }

  private:
    Graph build() {
        GraphBuilder b;
        for (int i = 0; i < 3; ++i)
            nodes.push_back(b.kernel({}, store, cells.data() + i, i).label("store " + std::to_string(i)));
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("apply pushes the nodes that changed, and says how many", "[exec][apply]") {
    Stores stores;
    Exec exec = stores.graph.instantiate();
    CHECK(exec.apply(stores.graph) == 0);
    stores.graph.update(stores.nodes[1], arg<1>(10));
    CHECK(stores.result(exec) == Cells{0, 1, 2});
    CHECK(exec.apply(stores.graph) == 1);
    CHECK(stores.result(exec) == Cells{0, 10, 2});
    CHECK(exec.apply(stores.graph) == 0);
}

TEST_CASE("a node changed several times is pushed once, as it is last", "[exec][apply]") {
    Stores stores;
    Exec exec = stores.graph.instantiate();
    for (int value = 0; value < 500; ++value) {
        stores.graph.update(stores.nodes[0], arg<1>(value));
        stores.graph.update(stores.nodes[2], arg<1>(-value));
    }
    CHECK(exec.apply(stores.graph) == 2);
    CHECK(stores.result(exec) == Cells{499, 1, -499});
}

TEST_CASE("each exec of a graph catches up from its own version", "[exec][apply]") {
    Stores stores;
    Exec first = stores.graph.instantiate();
    stores.graph.update(stores.nodes[0], arg<1>(10));
    Exec second = stores.graph.instantiate();
    stores.graph.update(stores.nodes[1], arg<1>(11));
    CHECK(first.apply(stores.graph) == 2);
    stores.graph.update(stores.nodes[2], arg<1>(12));
    CHECK(second.apply(stores.graph) == 2);
    CHECK(first.apply(stores.graph) == 1);
    CHECK(stores.result(first) == Cells{10, 11, 12});
    CHECK(stores.result(second) == Cells{10, 11, 12});
}

TEST_CASE("arguments by position build on what the exec has, not on the graph's changes", "[exec][apply]") {
    Stores stores;
    Exec exec = stores.graph.instantiate();
    stores.graph.update(stores.nodes[0], stores.cells.data() + 1, 50);
    exec.update(stores.nodes[0], arg<1>(7));
    CHECK(stores.result(exec) == Cells{7, 1, 2});
}

TEST_CASE("arguments by position build on what apply has brought", "[exec][apply]") {
    Stores stores;
    Exec exec = stores.graph.instantiate();
    stores.graph.update(stores.nodes[2], stores.cells.data(), 50);
    stores.graph.update(stores.nodes[0], stores.cells.data() + 2, 60);
    CHECK(exec.apply(stores.graph) == 2);
    exec.update(stores.nodes[0], arg<1>(7));
    CHECK(stores.result(exec) == Cells{50, 1, 7});
}

TEST_CASE("apply overrides what the exec's own updates set in the same node", "[exec][apply]") {
    Stores stores;
    Exec exec = stores.graph.instantiate();
    exec.update(stores.nodes[0], arg<1>(5));
    exec.update(stores.nodes[1], arg<1>(6));
    stores.graph.update(stores.nodes[0], arg<1>(10));
    CHECK(exec.apply(stores.graph) == 1);
    CHECK(stores.result(exec) == Cells{10, 6, 2});
}

TEST_CASE("a launch configuration is applied", "[exec][apply]") {
    auto count = device({0U, 0U});
    GraphBuilder b;
    const auto node = b.kernel({.grid = 2, .block = 4}, count_threads, count.data(), count.data() + 1, 1U);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    graph.update(node, {.grid = 3, .block = 5});
    CHECK(exec.apply(graph) == 1);
    run(exec, Stream());
    CHECK(read(count) == std::vector{15U, 3U});
}

TEST_CASE("a refused update of a graph's node changes nothing", "[graph][update]") {
    Stores stores;
    Exec exec = stores.graph.instantiate();
    const auto error = refused<UpdateError>([&] { stores.graph.update(stores.nodes[1], {.block = 5000}, nullptr, 9); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("update of kernel \"store 1\"") && ContainsSubstring("5000"));
    CHECK(exec.apply(stores.graph) == 0);
    CHECK(stores.result(exec) == Cells{0, 1, 2});
    Exec later = stores.graph.instantiate();
    CHECK(stores.result(later) == Cells{0, 1, 2});
}

TEST_CASE("apply refuses a graph that the exec was not made from", "[exec][apply]") {
    Stores stores;
    Exec exec = stores.graph.instantiate();
    const Graph clone = stores.graph.clone();
    const auto error = refused<UpdateError>([&] { exec.apply(clone); });
    CHECK_THAT(error.what(), ContainsSubstring("apply: the graph is not the one that this Exec was made from"));
}

TEST_CASE("a graph's update refuses nodes of other graphs", "[graph][update]") {
    Stores stores;
    Stores others;
    const auto error = refused<UpdateError>([&] { stores.graph.update(others.nodes[2], arg<1>(3)); });
    CHECK_THAT(error.what(),
               ContainsSubstring("kernel \"store 2\"") && ContainsSubstring("does not belong to this Graph"));
}

TEST_CASE("a graph takes a copy of another direction, which its execs refuse", "[exec][apply]") {
    const auto cells = device({1, 2});
    std::vector<int> host{7, 8};
    GraphBuilder b;
    const auto copy = b.memcpy(cells, host).label("copy");
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THAT(refused<UpdateError>([&] { exec.update(copy, host, cells); }).what(),
               ContainsSubstring("memcpy \"copy\"") && ContainsSubstring("direction"));
    graph.update(copy, host, cells);
    CHECK_THAT(refused<UpdateError>([&] { exec.apply(graph); }).what(), ContainsSubstring("direction"));
    run(exec, Stream());
    CHECK(read(cells) == Cells{7, 8});
    write(cells.span(), {3, 4});
    Exec other = graph.instantiate();
    run(other, Stream());
    CHECK(host == Cells{3, 4});
}

TEST_CASE("an owner given to a graph's update lives as long as an exec uses it", "[graph][update][owners]") {
    Stores stores;
    Watched first;
    Watched second;
    Exec exec = stores.graph.instantiate();
    stores.graph.update(stores.nodes[0], first.take(), 21);
    exec.apply(stores.graph);
    stores.graph.update(stores.nodes[0], second.take(), 22);
    CHECK(first.alive());
    run(exec, stores.stream);
    CHECK(first.value() == 21);
    exec.apply(stores.graph);
    CHECK(released(first, stores.stream));
    run(exec, stores.stream);
    CHECK(second.value() == 22);
    CHECK(second.alive());
}

TEST_CASE("an owner given to a graph's update goes at once if no exec has it", "[graph][update][owners]") {
    Stores stores;
    Watched first;
    stores.graph.update(stores.nodes[0], first.take(), 21);
    CHECK(first.alive());
    stores.graph.update(stores.nodes[0], stores.cells.data(), 22);
    CHECK_FALSE(first.alive());
}

TEST_CASE("an owner that goes with a graph's update may update the graph", "[graph][update][owners]") {
    Stores stores;
    bool has_updated = false;
    stores.graph.update(stores.nodes[0],
                        std::shared_ptr<int>(stores.cells.data(),
                                             [&](int*) {
                                                 stores.graph.update(stores.nodes[1], arg<1>(31));
                                                 has_updated = true;
                                             }),
                        21);
    stores.graph.update(stores.nodes[0], stores.cells.data(), 22);
    CHECK(has_updated);
    Exec exec = stores.graph.instantiate();
    CHECK(stores.result(exec) == Cells{22, 31, 2});
}

TEST_CASE("an exec made from an updated graph keeps the update's owner", "[graph][update][owners]") {
    Watched owned;
    std::optional<Exec> exec;
    Stream stream;
    {
        Stores stores;
        stores.graph.update(stores.nodes[0], owned.take(), 21);
        exec = stores.graph.instantiate();
        stores.graph.update(stores.nodes[0], stores.cells.data(), 22);
        run(*exec, stream);
    }
    CHECK(owned.alive());
    CHECK(owned.value() == 21);
    exec.reset();
    CHECK(released(owned, stream));
}
