// Nodes switched off and on.
#include "gate.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateError;

namespace {

struct Sample {
    DeviceBuffer<int> cells = device({0, 0, 0});
    DeviceBuffer<int> source = device({3});
    cudag::KernelNode<int*, int> kernel;
    cudag::MemsetNode memset;
    cudag::MemcpyNode memcpy;
    cudag::HostNode host;
    cudag::JoinNode join;
    Graph graph = build();
    Exec exec = graph.instantiate();
    Stream stream;

    std::vector<int> result() {
        write(cells.span(), {0, 0, 0});
        run(exec, stream);
        return read(cells);
    }

  private:
    Graph build() {
        GraphBuilder b;
        kernel = b.kernel({}, store, cells.span().subspan(0, 1), 1).label("kernel");
        memset = b.memset(cells.span().subspan(1, 1), 2).label("memset").after(kernel);
        memcpy = b.memcpy(cells.span().subspan(2, 1), source).label("memcpy").after(memset);
        host = b.host([] {}).label("host");
        join = b.join(kernel).label("join");
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("every node is enabled at first", "[exec][enable]") {
    const Sample s;
    for (const cudag::Node& node : s.graph.nodes())
        CHECK(s.exec.is_enabled(node));
}

TEST_CASE("a disabled node does nothing until it is enabled", "[exec][enable]") {
    Sample s;
    s.exec.disable(s.kernel);
    CHECK_FALSE(s.exec.is_enabled(s.kernel));
    CHECK(s.result() == std::vector{0, 2, 3});
    s.exec.disable(s.memset);
    CHECK(s.result() == std::vector{0, 0, 3});
    s.exec.disable(s.memcpy);
    CHECK(s.result() == std::vector{0, 0, 0});
    s.exec.enable(s.kernel);
    s.exec.enable(s.memset);
    s.exec.enable(s.memcpy);
    CHECK(s.exec.is_enabled(s.kernel));
    CHECK(s.result() == std::vector{1, 2, 3});
}

TEST_CASE("enabling and disabling twice changes nothing", "[exec][enable]") {
    Sample s;
    s.exec.enable(s.kernel);
    CHECK(s.result() == std::vector{1, 2, 3});
    s.exec.disable(s.kernel);
    s.exec.disable(s.kernel);
    CHECK(s.result() == std::vector{0, 2, 3});
    s.exec.enable(s.kernel);
    CHECK(s.result() == std::vector{1, 2, 3});
}

TEST_CASE("a disabled node stays disabled when it is updated", "[exec][enable]") {
    Sample s;
    s.exec.disable(s.kernel);
    s.exec.update(s.kernel, s.cells, 9);
    CHECK_FALSE(s.exec.is_enabled(s.kernel));
    CHECK(s.result() == std::vector{0, 2, 3});
    s.exec.enable(s.kernel);
    CHECK(s.result() == std::vector{9, 2, 3});
}

TEST_CASE("a node is disabled in one exec alone", "[exec][enable]") {
    Sample s;
    Exec other = s.graph.instantiate();
    s.exec.disable(s.kernel);
    CHECK(other.is_enabled(s.kernel));
    write(s.cells.span(), {0, 0, 0});
    run(other, s.stream);
    CHECK(read(s.cells) == std::vector{1, 2, 3});
}

TEST_CASE("what comes after a disabled node still waits for what comes before it", "[exec][enable]") {
    const cudag::PinnedBuffer<int> cells(2);
    std::fill(cells.begin(), cells.end(), 0);
    const Stream stream;
    int* const p = cells.data();
    Gate gate;
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    const auto first = b.kernel({}, store, p, 5).after(wait);
    const auto middle = b.kernel({}, store, p, 6).after(first);
    b.kernel({}, add, p + 1, p, 10).after(middle);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.disable(middle);
    exec.launch(stream);
    gate.wait_until_entered();
    gate.open();
    stream.synchronize();
    CHECK(cells[0] == 5);
    CHECK(cells[1] == 15);
}

TEST_CASE("nodes of other kinds cannot be disabled or enabled", "[exec][enable]") {
    Sample s;
    const auto check = [](const cudag::Node& node, auto&& call) {
        const auto error = refused<UpdateError>(call);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{std::string(node.label())});
        CHECK(error.location().line == node.location().line);
        CHECK_THAT(error.what(), ContainsSubstring("kernel, memcpy and memset nodes only") &&
                                     ContainsSubstring("\"" + std::string(node.label()) + "\""));
    };
    check(s.host, [&] { s.exec.disable(s.host); });
    check(s.host, [&] { s.exec.enable(s.host); });
    check(s.join, [&] { s.exec.disable(s.join); });
    check(s.join, [&] { s.exec.enable(s.join); });
    CHECK(s.exec.is_enabled(s.host));
    CHECK(s.exec.is_enabled(s.join));
    CHECK(s.result() == std::vector{1, 2, 3});
}
