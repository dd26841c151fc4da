// ExecCache: graphs of one structure that differ in nothing, in few nodes, or in all.
#include "gate.hpp"
#include "test.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using cudag::DeviceBuffer;
using cudag::ExecCache;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

/// Graphs of nodes that each write a cell, and what comes out.
class Writers {
  public:
    static constexpr std::size_t nodes = 16;
    using Values = std::array<int, nodes>;

    Writers() { write(numbers_.span(), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}); }

    /// The nodes are fills, copies, kernels with as many blocks as the value, and kernels that store it, in turns.
    [[nodiscard]] Graph build(const Values& values, const std::shared_ptr<int>& owner = nullptr) const {
        GraphBuilder b;
        if (owner) b.retain(owner);
        for (std::size_t i = 0; i < nodes; ++i)
            add(b, i, values[i]);
        return std::move(b).build();
    }

    /// The cells after `graph` was launched by `cache`.
    [[nodiscard]] std::vector<int> result(ExecCache& cache, const Graph& graph) const {
        write(cells_.span(), std::vector<int>(nodes, 0));
        cache.launch(graph, stream_);
        stream_.synchronize();
        return read(cells_);
    }
    [[nodiscard]] static std::vector<int> expected(const Values& values) { return {values.begin(), values.end()}; }

    [[nodiscard]] const Stream& stream() const { return stream_; }
    [[nodiscard]] int* cell(std::size_t node) const { return cells_.data() + node; }

  private:
    void add(GraphBuilder& b, std::size_t i, int value) const {
        int* const cell = cells_.data() + i;
        const auto number = static_cast<unsigned>(value);
        switch (i % 4) {
        case 0:
            b.memset(cudag::DeviceSpan<int>(cell, 1), value);
            break;
        case 1:
            b.memcpy(cudag::DeviceSpan<int>(cell, 1), cudag::DeviceSpan<const int>(numbers_.data() + value, 1));
            break;
        case 2: // adds one for each thread
            b.kernel({.grid = {number}, .block = {1}}, count_threads, reinterpret_cast<unsigned*>(cell),
                     reinterpret_cast<unsigned*>(sums_.data() + i), 1U);
            break;
        default:
            b.kernel({}, store, cell, value);
        }
    }

    DeviceBuffer<int> cells_{nodes};
    DeviceBuffer<int> sums_{nodes};
    DeviceBuffer<int> numbers_{10}; ///< 0 to 9
    Stream stream_;
};

Writers::Values all(int value) {
    Writers::Values values{};
    values.fill(value);
    return values;
}

Writers::Values all_but(std::size_t node, int other) {
    Writers::Values values = all(1);
    values[node] = other;
    return values;
}

} // namespace

TEST_CASE("a cache launches graphs that differ in one node, of whatever kind, as they are", "[exec][cache]") {
    const Writers writers;
    ExecCache cache;
    const Graph first = writers.build(all(1));
    CHECK(writers.result(cache, first) == Writers::expected(all(1)));
    for (std::size_t node = 0; node < Writers::nodes; ++node) {
        CAPTURE(node);
        const Writers::Values values = all_but(node, 5);
        CHECK(writers.result(cache, writers.build(values)) == Writers::expected(values));
    }
    CHECK(writers.result(cache, writers.build(all(1))) == Writers::expected(all(1)));
    CHECK(writers.result(cache, writers.build(all(2))) == Writers::expected(all(2)));
    CHECK(writers.result(cache, first) == Writers::expected(all(1)));
    CHECK(cache.stats().instantiations == 1);
    CHECK(cache.stats().updates == Writers::nodes + 3);
}

TEST_CASE("a cache launches graphs that differ in any nodes as they are, in any order", "[exec][cache]") {
    const Writers writers;
    ExecCache cache;
    std::mt19937 random(7);
    std::vector<std::pair<Graph, Writers::Values>> kept;
    Writers::Values values = all(1);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        for (auto changes = random() % 5; changes > 0; --changes)
            values[random() % Writers::nodes] = static_cast<int>(1 + random() % 8);
        if (random() % 8 == 0) values = all(static_cast<int>(1 + random() % 8));
        kept.emplace_back(writers.build(values), values);
        const auto& [graph, expected] = kept[random() % 2 == 0 ? kept.size() - 1 : random() % kept.size()];
        CHECK(writers.result(cache, graph) == Writers::expected(expected));
    }
    CHECK(cache.stats().instantiations == 1);
}

TEST_CASE("a cache launches graphs that differ in the address that a kernel takes first as they are", "[exec][cache]") {
    const DeviceBuffer<int> cells(16), other(16);
    const Stream stream;
    ExecCache cache;
    const auto build = [&](int* last) {
        GraphBuilder b;
        for (std::size_t i = 0; i < 15; ++i)
            b.kernel({}, store, cells.data() + i, 1);
        b.kernel({}, store, last, 1);
        return std::move(b).build();
    };
    const Graph one = build(cells.data() + 15), two = build(other.data());
    for (const Graph* graph : {&one, &two}) {
        write(cells.span(), std::vector<int>(16, 0));
        write(other.span(), std::vector<int>(16, 0));
        cache.launch(*graph, stream);
        stream.synchronize();
        CHECK(read(cells)[15] == (graph == &one ? 1 : 0));
        CHECK(read(other)[0] == (graph == &one ? 0 : 1));
    }
}

TEST_CASE("a graph that differs in few nodes, but in what CUDA fixes of one, gets an exec of its own",
          "[exec][cache]") {
    const Writers writers;
    const cudag::PinnedBuffer<int> pinned(2);
    const DeviceBuffer<int> from(2), other(2), to(3);
    write(from.span(), {5, 6});
    write(other.span(), {7, 8});
    pinned.data()[0] = 7;
    pinned.data()[1] = 8;
    const auto build = [&](int last, const auto& add_copy) {
        GraphBuilder b;
        for (std::size_t i = 0; i < Writers::nodes; ++i)
            b.kernel({}, store, writers.cell(i), 1);
        b.memset(to.span().subspan(2, 1), last); // which CUDA takes, and is to give back
        add_copy(b);
        return std::move(b).build();
    };
    ExecCache cache;
    const auto result = [&](const Graph& graph) {
        cache.launch(graph, writers.stream());
        writers.stream().synchronize();
        return read(to);
    };
    const auto target = to.span().subspan(0, 2);
    const auto check = [&](const Graph& graph, const Graph& next) {
        CHECK(result(graph) == std::vector{5, 6, 3});
        CHECK(result(next) == std::vector{7, 8, 4});
        CHECK(result(graph) == std::vector{5, 6, 3});
    };
    SECTION("the direction of a copy") {
        check(build(3, [&](auto& b) { b.memcpy(target, from.span()); }),
              build(4, [&](auto& b) { b.memcpy(target, pinned.span()); }));
    }
    SECTION("where a copy of several dimensions copies from") {
        const auto region = [](cudag::DeviceSpan<int> span) { return cudag::DeviceSpan2D<int>(span, 1, 2); };
        check(build(3, [&](auto& b) { b.memcpy2d(region(target), region(from.span())); }),
              build(4, [&](auto& b) { b.memcpy2d(region(target), region(other.span())); }));
    }
    CHECK(cache.stats().hits == 1);
    CHECK(cache.stats().instantiations == 2);
    CHECK(cache.stats().updates == 0);
}

TEST_CASE("a node that was updated in its graph is brought into the exec of a cache", "[exec][cache]") {
    const Writers writers;
    ExecCache cache;
    Graph graph = writers.build(all(1));
    const Graph other = writers.build(all(1));
    CHECK(writers.result(cache, graph) == Writers::expected(all(1)));
    Writers::Values values = all(1);
    for (const int value : {3, 4}) {
        graph.update(graph.find(store)[1], cudag::arg<1>(value));
        values[7] = value;
        CHECK(writers.result(cache, graph) == Writers::expected(values));
        CHECK(writers.result(cache, other) == Writers::expected(all(1)));
        CHECK(writers.result(cache, graph) == Writers::expected(values));
    }
    CHECK(cache.stats().hits == 0);
    CHECK(cache.stats().updates == 6);
}

TEST_CASE("graphs that differ in nothing but what their host nodes call each call their own", "[exec][cache]") {
    const Stream stream;
    ExecCache cache;
    std::vector<int> called;
    const auto build = [&](int number) {
        GraphBuilder b;
        b.host([&called, number] { called.push_back(number); });
        return std::move(b).build();
    };
    const Graph one = build(1), two = build(2);
    for (const Graph* graph : {&one, &two, &one}) {
        cache.launch(*graph, stream);
        stream.synchronize();
    }
    CHECK(called == std::vector<int>{1, 2, 1});
}

TEST_CASE("a graph that brings an owner for what another one borrowed keeps it while its launch is in flight",
          "[exec][cache]") {
    const bool is_cloned = GENERATE(false, true);
    CAPTURE(is_cloned);
    const DeviceBuffer<int> cell{1};
    const Stream stream;
    ExecCache cache;
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = owner;
    const auto build = [&](std::shared_ptr<int> kept) {
        GraphBuilder b;
        b.kernel({}, store, cell.data(), 1);
        if (kept) b.retain(kept);
        return std::move(b).build();
    };
    const Graph borrowing = build(nullptr), next = build(nullptr);
    Gate gate;
    GraphBuilder b;
    b.host(gate.node());
    cudag::Exec blocked = std::move(b).build().instantiate();
    cache.launch(borrowing, stream);
    blocked.launch(stream);
    gate.wait_until_entered();
    {
        Graph owning = build(std::move(owner));
        if (is_cloned) owning = owning.clone();
        cache.launch(owning, stream);
    }
    cache.launch(next, stream);
    CHECK_FALSE(watched.expired());
    gate.open();
    stream.synchronize();
    cache.clear();
    CHECK(released(watched, stream));
}

TEST_CASE("what an update of a graph brought in is kept while a launch by a cache may use it", "[exec][cache]") {
    const Writers writers;
    const Stream& stream = writers.stream();
    Watched watched;
    ExecCache cache;
    Graph graph = writers.build(all(1));
    CHECK(writers.result(cache, graph) == Writers::expected(all(1)));
    const auto node = graph.find(store)[1];
    Gate gate;
    GraphBuilder b;
    b.host(gate.node());
    cudag::Exec blocked = std::move(b).build().instantiate();
    blocked.launch(stream);
    gate.wait_until_entered();
    graph.update(node, cudag::arg<0>(watched.take()));
    cache.launch(graph, stream);
    graph.update(node, cudag::arg<0>(writers.cell(7)));
    cache.launch(graph, stream);
    CHECK(watched.alive());
    gate.open();
    stream.synchronize();
    CHECK(watched.value() == 1);
    CHECK(released(watched, stream));
}

TEST_CASE("an exec of a cache lets go of what a graph owned when one follows that differs in few nodes",
          "[exec][cache]") {
    const Writers writers;
    ExecCache cache;
    const Graph first = writers.build(all(1));
    CHECK(writers.result(cache, first) == Writers::expected(all(1)));
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = owner;
    {
        const Graph owning = writers.build(all_but(3, 3), std::exchange(owner, nullptr));
        CHECK(writers.result(cache, owning) == Writers::expected(all_but(3, 3)));
    }
    CHECK_FALSE(watched.expired());
    CHECK(writers.result(cache, writers.build(all_but(3, 2))) == Writers::expected(all_but(3, 2)));
    CHECK(released(watched, writers.stream()));
}
