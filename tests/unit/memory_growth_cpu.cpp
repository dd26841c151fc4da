// What is done again and again holds no more memory than what is done a few times.
#include "allocated_bytes.hpp"
#include "growth_kernels.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// How many bytes more the program holds after `count` calls of `step` than after the first few.
template <class Step>
std::size_t growth(int count, const Step& step) {
    constexpr int first_few = 40;
    for (int i = 0; i < first_few; ++i)
        step(i);
    const std::size_t before = allocated_bytes();
    for (int i = 0; i < count; ++i)
        step(i);
    const std::size_t after = allocated_bytes();
    return after > before ? after - before : 0;
}

constexpr std::size_t little = 20'000; // of vectors and tables that have grown once more

struct OneKernel {
    OneKernel() {
        cudag::GraphBuilder builder;
        node = builder.kernel({}, multiply_add, x, y, 1, 2);
        graph = std::move(builder).build();
    }

    cudag::DeviceBuffer<int> x{1}, y{1};
    cudag::KernelNode<int*, const int*, int, int> node;
    std::optional<cudag::Graph> graph;
};

} // namespace

TEST_CASE("operator new is counted in the library, too", "[unit][growth]") {
    const std::size_t before = allocated_bytes();
    const OneKernel kernel;
    CHECK(allocated_bytes() > before + 1000);
}

TEST_CASE("a clone of clones holds no memory of those before it", "[unit][growth][clone]") {
    OneKernel kernel;
    cudag::Graph graph = std::move(*kernel.graph);
    auto node = kernel.node;
    CHECK(growth(2000, [&](int) { graph = graph.clone(); }) < little);

    node = graph.find(multiply_add).at(0);
    CHECK(growth(2000, [&](int i) {
              cudag::Graph next = graph.clone();
              node = next.counterpart(node);
              next.update(node, cudag::arg<3>(i));
              graph = std::move(next);
          }) < little);
    CHECK(node.get<3>() == 1999);
}

TEST_CASE("a capture that has ended holds no memory", "[unit][growth][capture]") {
    const cudag::DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream;
    CHECK(growth(2000, [&](int i) {
              const cudag::Graph graph =
                  cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, multiply_add, x, y, 1, i); });
          }) < little);
}

TEST_CASE("a clone of clones of a captured graph holds no memory of those before it", "[unit][growth][clone]") {
    const cudag::DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream;
    cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        for (int i = 0; i < 3; ++i)
            cudag::launch(s, {}, multiply_add, x, y, 1, i);
    });
    CHECK(growth(1000, [&](int) { graph = graph.clone(); }) < little);
    const auto nodes = graph.find(multiply_add);
    REQUIRE(nodes.size() == 3);
    for (int i = 0; i < 3; ++i)
        CHECK(nodes[static_cast<std::size_t>(i)].get<3>() == i);
}

TEST_CASE("100000 clones of clones are destroyed like one", "[unit][growth][clone][deep]") {
    OneKernel kernel;
    cudag::Graph graph = std::move(*kernel.graph);
    auto node = kernel.node;
    for (int i = 0; i < 100'000; ++i) {
        graph.update(node, cudag::arg<3>(i)); // so that each has something that its clone refers to
        cudag::Graph next = graph.clone();
        node = next.counterpart(node);
        graph = std::move(next);
    }
    CHECK(node.get<3>() == 99'999);
}

TEST_CASE("a clone lets go of an owner that an update of it replaces", "[unit][growth][clone]") {
    const NothingLeft check;
    OneKernel kernel;
    cudag::Graph graph = std::move(*kernel.graph);
    auto node = kernel.node;
    const std::size_t before = cudart_cpu::live().device_allocations;
    for (int i = 0; i < 20; ++i) {
        graph.update(node, cudag::DeviceBuffer<int>(1), kernel.y, 1, i);
        cudag::Graph next = graph.clone();
        node = next.counterpart(node);
        graph = std::move(next);
    }
    CHECK(cudart_cpu::live().device_allocations == before + 1);
    {
        cudag::Exec exec = graph.instantiate();
        const cudag::Graph gone = std::move(graph);
        CHECK(cudart_cpu::live().device_allocations == before + 1);
    }
}

TEST_CASE("an Exec of a clone keeps the owner that an update of the origin brought in", "[unit][growth][clone]") {
    const NothingLeft check;
    const cudag::Stream stream;
    std::optional<cudag::Exec> exec;
    const std::size_t before = cudart_cpu::live().device_allocations;
    {
        OneKernel kernel;
        kernel.graph->update(kernel.node, cudag::DeviceBuffer<int>(1), kernel.y, 0, 5); // computes nothing
        cudag::GraphBuilder builder;
        builder.child(*kernel.graph);
        exec = std::move(builder).build().instantiate();
    }
    CHECK(cudart_cpu::live().device_allocations == before + 3); // x and y, which the nodes were made with, and x's heir
    exec->launch(stream);
    stream.synchronize();
    exec.reset();
}

TEST_CASE("updates of a child to and fro hold no more memory", "[unit][growth][update]") {
    const cudag::DeviceBuffer<int> cell(1);
    cudag::GraphBuilder first, second, builder;
    first.kernel({}, store_value, cell.data(), 1);
    Block block{};
    block.values[63] = 2;
    second.kernel({}, store_block, cell.data(), block);
    const cudag::Graph small = std::move(first).build();
    const cudag::Graph large = std::move(second).build();
    const cudag::ChildNode child = builder.child(small);
    cudag::Exec exec = std::move(builder).build().instantiate();
    CHECK(growth(1000, [&](int i) { exec.update(child, i % 2 == 0 ? large : small); }) < little);

    const cudag::Stream stream;
    for (const int expected : {1, 2, 1}) {
        exec.update(child, expected == 1 ? small : large);
        exec.launch(stream);
        stream.synchronize();
        int value = 0;
        cudag::check(cudaMemcpy(&value, cell.data(), sizeof value, cudaMemcpyDefault));
        CHECK(value == expected);
    }
}

TEST_CASE("labels of a node hold no memory of earlier ones", "[unit][growth][label]") {
    const OneKernel kernel;
    const std::string text(200, 'x');
    CHECK(growth(1000, [&](int i) { kernel.node.label(text + std::to_string(i)); }) < little);
    CHECK(kernel.node.label() == text + "999");
}

TEST_CASE("an exec holds no memory of BufferParams that are gone", "[unit][growth][bind]") {
    constexpr std::size_t nodes = 20;
    const cudag::DeviceBuffer<int> x(1024), y(1024), out(nodes);
    cudag::GraphBuilder builder;
    for (std::size_t i = 0; i < nodes; ++i)
        builder.kernel({}, multiply_add, out.span().subspan(i, 1).data(), x.data(), 1, 2);
    cudag::Exec exec = std::move(builder).build().instantiate();
    CHECK(growth(500, [&](int) {
              exec.bind(cudag::BufferParam<int>(x), y);
              exec.bind(cudag::BufferParam<int>(x), x);
          }) < little);
    CHECK(growth(500, [&](int i) { // also of those that no node uses, and of ever other memory
              const cudag::DeviceBuffer<int> unused(static_cast<std::size_t>(16 + i % 7));
              CHECK_THROWS_AS(exec.bind(cudag::BufferParam<int>(unused), y), cudag::UpdateError);
          }) < little);
    CHECK(growth(500, [&](int i) { // nor of ever more memory that nodes do use
              const auto size = static_cast<std::size_t>(1 + i);
              exec.bind(cudag::BufferParam<int>(x.span().subspan(0, size)), y.span().subspan(0, size));
          }) < little);
}

TEST_CASE("launches of host nodes, and streams, hold no memory when they have ended", "[unit][growth]") {
    int calls = 0;
    cudag::GraphBuilder builder;
    builder.host([&] { ++calls; });
    cudag::Exec exec = std::move(builder).build().instantiate();
    const cudag::Stream stream;
    CHECK(growth(5000, [&](int) {
              exec.launch(stream);
              stream.synchronize();
          }) < little);
    CHECK(calls == 5040);
    CHECK(growth(3, [&](int) { const std::vector<cudag::Stream> many(1000); }) < little);
}

TEST_CASE("a declared range beyond a BufferParam takes no more memory with each bind", "[unit][growth][bind]") {
    const cudag::DeviceBuffer<int> x(8), y(4), z(4), other(1);
    const auto part = x.span().subspan(0, 4);
    const cudag::BufferParam<int> param(part);
    cudag::GraphBuilder builder;
    builder.kernel({}, multiply_add, part.data(), other.data(), 1, 2)
        .writes(x)
        .writes(cudag::DeviceSpan2D<int>(x.span(), 2, 2, 4 * sizeof(int)));
    cudag::Exec exec = std::move(builder).build().instantiate();
    CHECK(growth(2000, [&](int i) { exec.bind(param, i % 2 == 0 ? y : z); }) < little);
}

TEST_CASE("a thread that has ended holds no memory, whatever it has launched and captured", "[unit][growth]") {
    const cudag::DeviceBuffer<int> x(1), y(1);
    cudag::check(cudaMemset(x.data(), 0, sizeof(int)));
    cudag::check(cudaMemset(y.data(), 0, sizeof(int)));
    const cudag::Stream stream;
    CHECK(growth(200, [&](int i) {
              std::thread([&] {
                  cudag::launch(stream, {}, multiply_add, x, y, 1, i);
                  stream.synchronize();
                  static_cast<void>(
                      cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, multiply_add, x, y, 1, i); }));
              }).join();
          }) < little);
}
