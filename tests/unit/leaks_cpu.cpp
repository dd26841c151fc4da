// Everything that cudag makes is destroyed, whichever of its parts goes first.
#include "gate.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

TEST_CASE("the count of live objects sees each kind", "[unit][leaks]") {
    const NothingLeft check;
    const cudart_cpu::LiveCounts start = cudart_cpu::live();
    {
        Pipeline pipeline;
        const cudag::Event event;
        const cudag::PinnedBuffer<int> pinned(1);
        const cudag::Graph graph = pipeline.build();
        const cudag::Exec exec = graph.instantiate();
        const cudart_cpu::LiveCounts now = cudart_cpu::live();
        CHECK(now.streams == start.streams + 1);
        CHECK(now.events == start.events + 1);
        CHECK(now.device_allocations == start.device_allocations + 2);
        CHECK(now.host_allocations == start.host_allocations + 1);
        CHECK(now.graphs == start.graphs + 1);
        CHECK(now.graph_execs == start.graph_execs + 1);
        CHECK(now.user_objects == start.user_objects); // with one each launch costs twice as much
    }
}

TEST_CASE("a builder that is never built leaves nothing", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::GraphBuilder builder;
    pipeline.write(builder);
}

TEST_CASE("a graph that is never instantiated leaves nothing", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
}

TEST_CASE("an exec outlives its graph and leaves nothing", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("execs of one graph are independent and leave nothing", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    std::optional<cudag::Exec> first = graph.instantiate();
    cudag::Exec second = graph.instantiate();
    first.reset();
    CHECK(pipeline.run(second) == pipeline.expected());
}

TEST_CASE("a chain of clones leaves nothing, whichever goes first", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    std::optional<cudag::Graph> original = pipeline.build();
    std::optional<cudag::Graph> clone = original->clone();
    const cudag::Graph last = clone->clone();
    clone.reset();
    original.reset();
    cudag::Exec exec = last.instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("an adopted graph is destroyed with its Graph", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph original = pipeline.build();
    cudaGraph_t native = nullptr;
    REQUIRE(cudaGraphClone(&native, original.native()) == cudaSuccess);
    cudag::Exec exec = cudag::Graph::adopt(native).instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("exceptions half-way leave nothing", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    SECTION("while building") {
        const auto build = [&] {
            cudag::GraphBuilder builder;
            pipeline.write(builder);
            throw std::runtime_error("half-way");
        };
        CHECK_THROWS_AS(build(), std::runtime_error);
    }
    SECTION("a node that is refused, with its owner") {
        cudag::GraphBuilder builder;
        CHECK_THROWS_AS(builder.memcpy(cudag::DeviceBuffer<int>(8), pipeline.in), cudag::GraphError);
        CHECK_THROWS_AS(builder.kernel(cudag::LaunchConfig{{0, 1, 1}}, multiply_add, cudag::DeviceBuffer<int>(4),
                                       cudag::DeviceBuffer<int>(4), 4, 1),
                        cudag::GraphError);
    }
    SECTION("a cycle") {
        cudag::GraphBuilder builder;
        pipeline.write(builder);
        pipeline.upload.after(pipeline.download);
        CHECK_THROWS_AS(static_cast<void>(std::move(builder).build()), cudag::GraphError);
    }
    SECTION("an update that is refused, with its owner") {
        cudag::Exec exec = pipeline.build().instantiate();
        CHECK_THROWS_AS(exec.update(pipeline.upload, cudag::DeviceBuffer<int>(8), pipeline.in), cudag::UpdateError);
        CHECK_THROWS_AS(exec.update(pipeline.download, cudag::DeviceBuffer<int>(Pipeline::size), pipeline.in),
                        cudag::UpdateError);
    }
    SECTION("in a host node") {
        cudag::GraphBuilder builder;
        const auto owned = std::make_shared<cudag::PinnedBuffer<int>>(1);
        builder.host([owned] { throw std::runtime_error(std::to_string((*owned)[0] = 3)); });
        cudag::Exec exec = std::move(builder).build().instantiate();
        exec.launch(pipeline.stream);
        CHECK_THROWS_MATCHES(pipeline.stream.synchronize(), cudag::HostError,
                             MessageMatches(ContainsSubstring("std::runtime_error: 3")));
    }
}

TEST_CASE("moved-from objects own nothing, and assigning destroys what was there", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Stream stream;
    cudag::Stream other_stream = std::move(stream);
    stream = std::move(other_stream);
    cudag::Event event;
    event = cudag::Event();
    cudag::DeviceBuffer<int> buffer(4);
    cudag::DeviceBuffer<int> other_buffer = std::move(buffer);
    CHECK(buffer.empty());
    CHECK(buffer.data() == nullptr);
    other_buffer = cudag::DeviceBuffer<int>(8);
    CHECK(other_buffer.size() == 8);

    cudag::GraphBuilder builder;
    pipeline.write(builder);
    cudag::GraphBuilder other_builder;
    other_builder = std::move(builder);
    cudag::Graph graph = std::move(other_builder).build();
    cudag::Graph other_graph = std::move(graph);
    graph = pipeline.build();
    graph = std::move(other_graph);
    cudag::Exec exec = graph.instantiate();
    cudag::Exec other_exec = std::move(exec);
    other_exec = graph.instantiate();
    exec = std::move(other_exec);
    exec.launch(pipeline.stream);
    pipeline.stream.synchronize();
}

TEST_CASE("graph, exec, stream and buffers destroyed in flight leave nothing", "[unit][leaks]") {
    const NothingLeft check;
    const auto gate = std::make_unique<Gate>();
    const std::vector<int> in{1, 2, 3, 4};
    cudag::PinnedBuffer<int> out(4); // a launch waits for copies to pageable memory
    std::optional<cudag::Event> done = cudag::Event();
    {
        cudag::Stream stream;
        const cudag::DeviceBuffer<int> x(4);
        cudag::GraphBuilder builder;
        const auto wait = builder.host(gate->waiter());
        const auto up = builder.memcpy(x, in).after(wait);
        builder.memcpy(out, x).after(up);
        cudag::Exec exec = std::move(builder).build().instantiate();
        exec.launch(stream);
        exec.launch(stream);
        done->record(stream);
    }
    CHECK_FALSE(done->query());
    gate->open();
    done->synchronize();
    CHECK(std::ranges::equal(out.span(), in));
    done.reset();
}

TEST_CASE("owners of updates leave nothing", "[unit][leaks]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    for (int i = 0; i < 10; ++i) {
        exec.update(pipeline.kernel, cudag::arg<1>(cudag::DeviceBuffer<int>(Pipeline::size)));
        exec.update(pipeline.count, [owned = cudag::PinnedBuffer<int>(1)] { owned[0] = 1; });
        if (i % 3 != 0) exec.launch(pipeline.stream);
        if (i % 4 == 0) pipeline.stream.synchronize();
    }
    pipeline.stream.synchronize();
}

TEST_CASE("captures that nodes were written into leave nothing, well ended or not", "[unit][leaks]") {
    const NothingLeft check;
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> x(4);
    const auto write = [&](cudag::StreamCapture& c) { c.kernel({}, multiply_add, x, x, 4, 1); };
    const auto write_and_fail = [&](cudag::StreamCapture& c) {
        write(c);
        throw std::runtime_error("no");
    };
    static_cast<void>(cudag::capture(stream, write));
    CHECK_THROWS_AS(cudag::capture(stream, write_and_fail), std::runtime_error);
    cudag::GraphBuilder well;
    well.capture(stream, write);
    static_cast<void>(std::move(well).build());
    cudag::GraphBuilder badly;
    badly.memset(x, 1);
    CHECK_THROWS_AS(badly.capture(stream, write_and_fail), std::runtime_error);
}
