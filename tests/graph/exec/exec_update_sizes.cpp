// Updates of whole graphs with other numbers of nodes, and of kernels with other sizes of arguments.
#include "scenario.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateVerdict;

namespace {

struct Lines {
    static constexpr int most = 64;
    DeviceBuffer<int> cells = device(std::vector<int>(most, -1));
    Stream stream;

    Graph record(int nodes) {
        return cudag::capture(stream, [&](cudaStream_t s) {
            for (int i = 0; i < nodes; ++i)
                cudag::launch(s, {}, store, cells.data() + i, i);
        });
    }
};

} // namespace

TEST_CASE("a captured graph of more nodes, one of them updated, is no update of a shorter one", "[exec][update]") {
    Lines lines;
    Exec exec = lines.record(1).instantiate();
    Graph many = lines.record(Lines::most);
    many.update(many.find(store).at(Lines::most - 1), cudag::arg<1>(7));
    const auto report = exec.update(many);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK(report.needs_instantiate());
    run(exec, lines.stream);
    CHECK(read(lines.cells)[0] == 0);
    CHECK(read(lines.cells)[Lines::most - 1] == -1);
}

TEST_CASE("a captured graph of one node more, an updated one, is no update", "[exec][update]") {
    Lines lines;
    for (const int nodes : {1, 2, 3, 4, 5}) {
        Exec exec = lines.record(nodes).instantiate();
        Graph more = lines.record(nodes + 1);
        more.update(more.find(store).at(static_cast<std::size_t>(nodes)), cudag::arg<1>(7));
        CHECK(exec.update(more).verdict() == UpdateVerdict::topology_changed);
        run(exec, lines.stream);
        CHECK(read(lines.cells)[static_cast<std::size_t>(nodes)] == -1);
    }
}

TEST_CASE("a captured graph of one node less is no update where that node is disabled", "[exec][update]") {
    const Stream stream;
    const DeviceBuffer<int> cells = device({0, 0, 0, 0});
    const auto captured = [&](std::size_t fills) {
        return cudag::capture(stream, [&](cudaStream_t s) {
            for (std::size_t i = 0; i < fills; ++i)
                cudag::memset_async(s, cells.span().subspan(i, 1), 5);
        });
    };
    for (const std::size_t fills : {2U, 3U, 4U}) {
        const Graph graph = captured(fills);
        Exec exec = graph.instantiate();
        const cudag::Node last = graph.nodes().back();
        exec.disable(last);
        CHECK(exec.update(captured(fills - 1)).verdict() == UpdateVerdict::topology_changed);
        CHECK_FALSE(exec.is_enabled(last));
        write(cells.span(), {0, 0, 0, 0});
        run(exec, stream);
        CHECK(read(cells)[0] == 5);
        CHECK(read(cells)[fills - 1] == 0);
    }
}

TEST_CASE("an Exec becomes an instance of a captured graph of more nodes, one of them updated", "[exec][update]") {
    Lines lines;
    Exec exec = lines.record(1).instantiate();
    Graph many = lines.record(Lines::most);
    many.update(many.find(store).at(Lines::most - 1), cudag::arg<1>(7));
    CHECK_FALSE(exec.update_or_instantiate(many).updated());
    run(exec, lines.stream);
    CHECK(read(lines.cells)[Lines::most - 1] == 7);
}

TEST_CASE("an updated node of a captured graph is updated in an Exec of a captured graph that nobody read",
          "[exec][update]") {
    Lines lines;
    const Graph first = lines.record(Lines::most);
    Exec exec = first.instantiate();
    Graph next = lines.record(Lines::most);
    next.update(next.find(store).at(Lines::most - 1), cudag::arg<1>(7));
    REQUIRE(exec.update(next).updated());
    exec.update(first.find(store).at(3), cudag::arg<1>(8));
    exec.update(first.find(store).at(Lines::most - 1), lines.cells.data() + 1, 9);
    run(exec, lines.stream);
    CHECK(read(lines.cells)[1] == 9);
    CHECK(read(lines.cells)[3] == 8);
}

TEST_CASE("apply gives a node its kernel back after a whole update to one of fewer argument bytes",
          "[exec][apply][update]") {
    const auto cells = device(std::vector<std::uint32_t>(4, 1));
    const auto numbers = device({0, 0});
    const Stream stream;
    GraphBuilder b;
    auto first = b.kernel({}, mix, cells, 1U, Inputs{}, 1U);
    auto second = b.kernel({}, store, numbers.data() + 1, 5).after(first);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();

    GraphBuilder c;
    auto smaller = c.kernel({}, store, numbers, 7);
    c.kernel({}, store, numbers.data() + 1, 6).after(smaller);
    const Graph other = std::move(c).build();
    REQUIRE(exec.update(other).updated());

    graph.update(first, cells, 2U, Inputs{}, 2U);
    graph.update(second, numbers.data() + 1, 8);
    CHECK(exec.apply(graph) == 2);
    exec.update(second, cudag::arg<1>(9));
    exec.update(first, cudag::arg<1>(3U));
    run(exec, stream);
    CHECK(read(numbers) == std::vector{0, 9});
    const auto mixed = read(cells);
    CHECK(mixed[3] != 1);
    CHECK(mixed[2] == 1);
    write(cells.span(), std::vector<std::uint32_t>(4, 1));
    graph.update(first, cudag::arg<1>(3U));
    Exec fresh = graph.instantiate();
    run(fresh, stream);
    CHECK(read(cells) == mixed);
    CHECK(read(numbers) == std::vector{0, 8});
}
