// Every runtime call that fails while a graph is built, cloned, adopted or instantiated.
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

namespace {

void check_whole(const cudag::Graph& graph) {
    CHECK(graph.node_count() == 6);
    CHECK(graph.edge_count() == 5);
}

/// Adds a node in a builder that has one already: each failure must add nothing, so that two are there at the end.
template <class AddNode>
void check_adding(AddNode&& add_node) {
    const NothingLeft check;
    cudag::GraphBuilder builder;
    const cudag::HostNode first = builder.host([] {});
    const Faults faults = for_every_call_failing([&] { static_cast<void>(add_node(builder, first)); });
    CHECK(faults.thrown > 0);
    CHECK(faults.ignored == 0);
    const cudag::Graph graph = std::move(builder).build();
    CHECK(graph.node_count() == 2);
    std::size_t native_count = 0;
    REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &native_count) == cudaSuccess);
    CHECK(native_count == 2);
}

} // namespace

TEST_CASE("a graph that fails to build at any call leaves nothing behind", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const Faults faults = for_every_call_failing([&] { return pipeline.build(); });
    CHECK(faults.thrown > 10);
    CHECK(faults.ignored == 0);

    const cudag::Graph graph = pipeline.build();
    check_whole(graph);
    cudag::Exec exec = graph.instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a node whose call fails is not in the graph", "[unit][faults]") {
    std::vector<int> host(4);
    const cudag::DeviceBuffer<int> x(4);
    const cudag::DeviceBuffer<int> y(4);
    SECTION("kernel") {
        check_adding(
            [&](auto& builder, auto) { return builder.kernel(cudag::grid_1d(4, 4), multiply_add, x, y, 4, 1); });
    }
    SECTION("memcpy") {
        check_adding([&](auto& builder, auto) { return builder.memcpy(x, host); });
    }
    SECTION("memset") {
        check_adding([&](auto& builder, auto) { return builder.memset(x, 1); });
    }
    SECTION("host") {
        check_adding([&](auto& builder, auto) { return builder.host([] {}); });
    }
    SECTION("join") {
        check_adding([&](auto& builder, auto first) { return builder.join(first); });
    }
}

TEST_CASE("building makes no call that could fail", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::GraphBuilder builder;
    pipeline.write(builder);
    const Faults faults = for_every_call_failing([&] {
        builder.check();
        return std::move(builder).build();
    });
    CHECK(faults.thrown == 0);
    CHECK(faults.ignored == 0);
}

TEST_CASE("a Graph is as it was when its clone fails", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const Faults faults = for_every_call_failing([&] { return graph.clone(); }, [&] { check_whole(graph); });
    CHECK(faults.thrown > 6); // each node is looked up in the clone
    CHECK(faults.ignored == 0);

    cudag::Exec exec = graph.clone().instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a Graph is as it was when its native graph cannot be completed", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const Faults faults =
        for_every_call_failing([&] { static_cast<void>(graph.native()); }, [&] { check_whole(graph); });
    CHECK(faults.thrown == 3); // user object made, retained, edges added
    CHECK(faults.ignored == 0);

    std::size_t edges = 0;
    REQUIRE(cudaGraphGetEdges(graph.native(), nullptr, nullptr, nullptr, &edges) == cudaSuccess);
    CHECK(edges == 5);
    cudag::Exec exec = graph.instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a Graph is as it was when instantiation fails", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const Faults faults = for_every_call_failing([&] { return graph.instantiate(); }, [&] { check_whole(graph); });
    CHECK(faults.thrown == 4);
    CHECK(faults.ignored == 0);

    cudag::Exec exec = graph.instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
    CHECK(pipeline.runs == 1);
}

TEST_CASE("a failed instantiation is an InstantiateError", "[unit][faults]") {
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    static_cast<void>(graph.native());
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK_THROWS_AS(static_cast<void>(graph.instantiate()), cudag::InstantiateError);
}

TEST_CASE("looking for a kernel fails without changing the graph", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const cudag::Graph clone = graph.clone(); // has looked up no kernel yet
    const Faults faults = for_every_call_failing([&] { return clone.find(multiply_add); }, [&] { check_whole(clone); });
    CHECK(faults.thrown == 2);
    CHECK(faults.ignored == 0);
    CHECK(clone.find(multiply_add).size() == 1);
}

TEST_CASE("a graph that cannot be adopted stays the caller's", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph original = pipeline.build();
    cudaGraph_t native = nullptr;
    REQUIRE(cudaGraphClone(&native, original.native()) == cudaSuccess);

    const auto still_whole = [&] {
        std::size_t nodes = 0;
        std::size_t edges = 0;
        REQUIRE(cudaGraphGetNodes(native, nullptr, &nodes) == cudaSuccess);
        REQUIRE(cudaGraphGetEdges(native, nullptr, nullptr, nullptr, &edges) == cudaSuccess);
        CHECK(nodes == 6);
        CHECK(edges == 5);
    };
    const Faults faults = for_every_call_failing([&] { return cudag::Graph::adopt(native); }, still_whole);
    CHECK(faults.thrown > 12); // each node's kind and parameters are read
    CHECK(faults.ignored == 0);
}
