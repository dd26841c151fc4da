// Updates of kernel nodes: arguments, some of them, and the configuration.
#include "gate.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::PinnedBuffer;
using cudag::Stream;

namespace {

/// y = 2 * x + y over four elements, as a graph.
struct Saxpy {
    DeviceBuffer<float> x = device({1.0F, 2.0F, 3.0F, 4.0F});
    DeviceBuffer<float> y = device({0.0F, 0.0F, 0.0F, 0.0F});
    cudag::KernelNode<int, float, const float*, float*> node;
    Graph graph = build();
    Exec exec = graph.instantiate();
    Stream stream;

    /// y after one launch on zeros.
    std::vector<float> result() {
        write(y.span(), std::vector<float>(4));
        run(exec, stream);
        return read(y);
    }

  private:
    Graph build() {
        GraphBuilder b;
        node = b.kernel({.block = 4}, saxpy, 4, 2.0F, x, y).label("saxpy");
        return std::move(b).build();
    }
};

using Floats = std::vector<float>;

} // namespace

TEST_CASE("all arguments of a kernel node are replaced", "[exec][update]") {
    Saxpy saxpy;
    CHECK(saxpy.result() == Floats{2, 4, 6, 8});
    const auto ones = device({1.0F, 1.0F, 1.0F, 1.0F});
    saxpy.exec.update(saxpy.node, 3, 5.0F, ones, saxpy.y);
    CHECK(saxpy.result() == Floats{5, 5, 5, 0});
}

TEST_CASE("one argument is replaced, the others stay", "[exec][update]") {
    Saxpy saxpy;
    saxpy.exec.update(saxpy.node, arg<1>(3.0F));
    CHECK(saxpy.result() == Floats{3, 6, 9, 12});
    saxpy.exec.update(saxpy.node, arg<0>(2));
    CHECK(saxpy.result() == Floats{3, 6, 0, 0});
}

TEST_CASE("several arguments are replaced by position, in any order", "[exec][update]") {
    Saxpy saxpy;
    saxpy.exec.update(saxpy.node, arg<1>(10.0F), arg<0>(1));
    CHECK(saxpy.result() == Floats{10, 0, 0, 0});
}

TEST_CASE("arguments by position build on earlier complete updates", "[exec][update]") {
    Saxpy saxpy;
    const auto ones = device({1.0F, 1.0F, 1.0F, 1.0F});
    saxpy.exec.update(saxpy.node, 4, 7.0F, ones, saxpy.y);
    saxpy.exec.update(saxpy.node, arg<0>(3));
    CHECK(saxpy.result() == Floats{7, 7, 7, 0});
}

TEST_CASE("arguments by position convert as complete ones do", "[exec][update]") {
    Saxpy saxpy;
    saxpy.exec.update(saxpy.node, arg<0>(std::size_t{2}), arg<1>(4), arg<2>(saxpy.x.span()));
    CHECK(saxpy.result() == Floats{4, 8, 0, 0});
}

TEST_CASE("a configuration is replaced with all arguments", "[exec][update]") {
    Saxpy saxpy;
    saxpy.exec.update(saxpy.node, {.grid = 1, .block = 2}, 4, 1.0F, saxpy.x, saxpy.y);
    CHECK(saxpy.result() == Floats{1, 2, 0, 0});
}

TEST_CASE("a configuration is replaced alone, or with one argument", "[exec][update]") {
    Saxpy saxpy;
    saxpy.exec.update(saxpy.node, cudag::LaunchConfig{.block = 3});
    CHECK(saxpy.result() == Floats{2, 4, 6, 0});
    saxpy.exec.update(saxpy.node, cudag::LaunchConfig{.grid = 2, .block = 1}, arg<1>(6.0F));
    CHECK(saxpy.result() == Floats{6, 12, 0, 0});
}

TEST_CASE("a configuration stays when arguments are replaced", "[exec][update]") {
    Saxpy saxpy;
    saxpy.exec.update(saxpy.node, cudag::LaunchConfig{.block = 2});
    saxpy.exec.update(saxpy.node, arg<1>(1.0F));
    CHECK(saxpy.result() == Floats{1, 2, 0, 0});
    saxpy.exec.update(saxpy.node, 4, 3.0F, saxpy.x, saxpy.y);
    CHECK(saxpy.result() == Floats{3, 6, 0, 0});
}

TEST_CASE("a kernel without parameters takes a configuration", "[exec][update]") {
    GraphBuilder b;
    const auto node = b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(node, cudag::LaunchConfig{.grid = 7, .block = 64});
    exec.update(node);
    CHECK_NOTHROW(run(exec, Stream()));
}

TEST_CASE("a struct argument is replaced", "[exec][update]") {
    const PinnedBuffer<std::uint32_t> cells(3);
    cells[0] = 100;
    cells[1] = 7;
    GraphBuilder b;
    const auto node = b.kernel({}, mix, cells, 2, Inputs{1, {0}}, 0);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(cells[2] == 100);
    exec.update(node, arg<2>(Inputs{2, {0, 1}}));
    run(exec, stream);
    CHECK(cells[2] == 100 * 31 + 7);
}

TEST_CASE("an update affects launches to come, not those in flight", "[exec][update]") {
    const PinnedBuffer<int> cell(1);
    cell[0] = 0;
    const Stream stream;
    Gate gate;
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    const auto node = b.kernel({}, store, cell, 1).after(wait);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();

    exec.launch(stream);
    gate.wait_until_entered();
    exec.update(node, arg<1>(2));
    gate.open();
    stream.synchronize();
    CHECK(cell[0] == 1);
    run(exec, stream);
    CHECK(cell[0] == 2);
}

TEST_CASE("each of several launches in flight has the arguments of its time", "[exec][update]") {
    const PinnedBuffer<int> cells(3);
    std::fill(cells.begin(), cells.end(), 0);
    const Stream stream;
    Gate gate;
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    const auto node = b.kernel({}, store, cells, 1).after(wait);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.launch(stream);
    exec.update(node, cells.data() + 1, 2);
    exec.launch(stream);
    exec.update(node, cells.data() + 2, 3);
    exec.launch(stream);
    gate.open();
    stream.synchronize();
    CHECK(std::vector(cells.begin(), cells.end()) == std::vector{1, 2, 3});
}
