// DynamicParam: one value that many kernel arguments follow.
#include <cstdint>
#include <limits>
#include <optional>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::arg;
using cudag::DynamicParam;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

using Cells = std::vector<int>;

/// Stores of a DynamicParam in some cells, and of a constant in the one after them.
class Stores {
  public:
    explicit Stores(std::size_t bound) : cells_(bound + 1) {}

    [[nodiscard]] Graph build(const DynamicParam<int>& value) const {
        GraphBuilder b;
        const std::size_t bound = cells_.size() - 1;
        for (std::size_t i = 0; i < bound; ++i)
            b.kernel({}, store, cells_.data() + i, value);
        b.kernel({}, store, cells_.data() + bound, 5);
        return std::move(b).build();
    }
    [[nodiscard]] Cells result(Exec& exec) const {
        write(cells_.span(), Cells(cells_.size(), -1));
        run(exec, Stream());
        return read(cells_);
    }

  private:
    cudag::DeviceBuffer<int> cells_;
};

} // namespace

TEST_CASE("nodes start with the parameter's value", "[exec][dynamic]") {
    const Stores stores(2);
    DynamicParam<int> value(3);
    Exec exec = stores.build(value).instantiate();
    CHECK(stores.result(exec) == Cells{3, 3, 5});
    CHECK(value.value() == 3);
}

TEST_CASE("setting the parameter changes every argument bound to it", "[exec][dynamic]") {
    const Stores stores(3);
    DynamicParam<int> value(3);
    Exec exec = stores.build(value).instantiate();
    CHECK(value.set(8, exec) == 3);
    CHECK(value.value() == 8);
    CHECK(stores.result(exec) == Cells{8, 8, 8, 5});
}

TEST_CASE("one call sets the parameter in several execs and graphs", "[exec][dynamic]") {
    const Stores two(2);
    const Stores one(1);
    DynamicParam<int> value(3);
    Graph first = two.build(value);
    const Graph second = one.build(value);
    Exec of_first = first.instantiate();
    Exec of_second = second.instantiate();
    CHECK(value.set(9, first, of_second) == 3);
    CHECK(one.result(of_second) == Cells{9, 5});
    CHECK(two.result(of_first) == Cells{3, 3, 5});
    CHECK(of_first.apply(first) == 2);
    CHECK(two.result(of_first) == Cells{9, 9, 5});
}

TEST_CASE("without targets only the value is set", "[exec][dynamic]") {
    const Stores stores(1);
    DynamicParam<int> value(3);
    Exec exec = stores.build(value).instantiate();
    CHECK(value.set(4) == 0);
    CHECK(value.value() == 4);
    CHECK(stores.result(exec) == Cells{3, 5});
    Exec later = stores.build(value).instantiate();
    CHECK(stores.result(later) == Cells{4, 5});
}

TEST_CASE("several parameters of one kernel are set apart", "[exec][dynamic]") {
    auto cells = device({1, 2});
    DynamicParam<const int*> from(cells.data());
    DynamicParam<int> value(10);
    GraphBuilder b;
    b.kernel({}, add, cells.data(), from, value);
    Exec exec = std::move(b).build().instantiate();
    CHECK(from.set(cells.data() + 1, exec) == 1);
    CHECK(value.set(20, exec) == 1);
    run(exec, Stream());
    CHECK(read(cells) == Cells{22, 2});
}

TEST_CASE("a pointer to mutable memory is set where the kernel only reads", "[exec][dynamic]") {
    auto cells = device({1, 2});
    DynamicParam<int*> from(cells.data());
    GraphBuilder b;
    b.kernel({}, add, cells.data(), from, 10);
    Exec exec = std::move(b).build().instantiate();
    CHECK(from.set(cells.data() + 1, exec) == 1);
    run(exec, Stream());
    CHECK(read(cells) == Cells{12, 2});
}

TEST_CASE("an exec of a clone is set, too", "[exec][dynamic]") {
    const Stores stores(2);
    DynamicParam<int> value(3);
    Exec exec = stores.build(value).clone().instantiate();
    CHECK(value.set(6, exec) == 2);
    CHECK(stores.result(exec) == Cells{6, 6, 5});
}

TEST_CASE("an exec without such an argument is left alone", "[exec][dynamic]") {
    const Stores stores(1);
    DynamicParam<int> value(3);
    DynamicParam<int> other(3);
    Exec exec = stores.build(value).instantiate();
    CHECK(other.set(6, exec) == 0);
    CHECK(stores.result(exec) == Cells{3, 5});
}

TEST_CASE("a parameter may go before its graph, and a graph before its parameter", "[exec][dynamic]") {
    const Stores stores(1);
    std::optional<DynamicParam<int>> value(3);
    std::optional<Graph> graph = stores.build(*value);
    Exec exec = graph->instantiate();
    value.reset();
    CHECK(stores.result(exec) == Cells{3, 5});
    DynamicParam<int> later(1);
    CHECK(later.set(2, exec) == 0);
    graph.reset();
    CHECK(later.set(3, exec) == 0);
}

TEST_CASE("a moved parameter keeps its bindings", "[exec][dynamic]") {
    const Stores stores(1);
    DynamicParam<int> value(3);
    Exec exec = stores.build(value).instantiate();
    DynamicParam<int> moved = std::move(value);
    CHECK(moved.set(7, exec) == 1);
    CHECK(stores.result(exec) == Cells{7, 5});
}

TEST_CASE("an update with the parameter passes its value", "[exec][dynamic]") {
    const Stores stores(1);
    DynamicParam<int> value(3);
    DynamicParam<int> other(30);
    const Graph graph = stores.build(value);
    Exec exec = graph.instantiate();
    exec.update(graph.find(store).front(), arg<1>(other));
    CHECK(stores.result(exec) == Cells{30, 5});
    CHECK(other.set(31, exec) == 0);
    CHECK(value.set(32, exec) == 1);
    CHECK(stores.result(exec) == Cells{32, 5});
}

TEST_CASE("a parameter is refused, and nothing set, where an update of the whole has brought another kernel",
          "[exec][dynamic]") {
    const Stores stores(1);
    auto cells = device({1});
    DynamicParam<int> value(3);
    Exec good = stores.build(value).instantiate();
    GraphBuilder b;
    b.kernel({}, store, cells.data(), value);
    Exec changed = std::move(b).build().instantiate();
    GraphBuilder c;
    c.kernel({}, nothing);
    const cudag::UpdateReport report = changed.update(std::move(c).build());
    INFO(report.to_string());
    REQUIRE(report.updated());
    const auto error = refused<cudag::UpdateError>([&] { value.set(4, good, changed); });
    CHECK_THAT(error.what(), ContainsSubstring("argument 1 is bound to a DynamicParam of 4 bytes"));

    GraphBuilder d;
    d.kernel({}, add, cells.data(), cells.data(), value);
    Exec shorter = std::move(d).build().instantiate();
    GraphBuilder e;
    e.kernel({}, store, cells.data(), 1); // of one argument less
    REQUIRE(shorter.update(std::move(e).build()).updated());
    CHECK_THAT(refused<cudag::UpdateError>([&] { value.set(4, good, shorter); }).what(),
               ContainsSubstring("argument 2 is bound to a DynamicParam of 4 bytes"));
    CHECK(value.value() == 3);
    CHECK(stores.result(good) == Cells{3, 5});
}

TEST_CASE("a parameter is set where another kernel takes its type at that place", "[exec][dynamic]") {
    const auto from = device({5}), to = device({0}), other = device({0});
    DynamicParam<int> value(3);
    GraphBuilder b, c;
    b.kernel({}, store, other.data(), value);
    Exec exec = std::move(b).build().instantiate();
    c.kernel({}, add_to, ToAndFrom{to.data(), from.data()}, 1);
    REQUIRE(exec.update(std::move(c).build()).updated());
    CHECK(value.set(4, exec) == 1);
    run(exec, Stream());
    CHECK(read(to) == Cells{9});
}

TEST_CASE("a parameter is set where an update of the whole has brought a graph whose types only CUDA knows",
          "[exec][dynamic]") {
    const Stores stores(1);
    DynamicParam<int> value(3);
    const Graph graph = stores.build(value);
    Exec exec = graph.instantiate();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    REQUIRE(exec.update(Graph::adopt(copy)).updated());
    CHECK(value.set(4, exec) == 1);
    CHECK(stores.result(exec) == Cells{4, 5});
}

TEST_CASE("a moved-from exec is refused", "[exec][dynamic]") {
    const Stores stores(1);
    DynamicParam<int> value(3);
    Exec exec = stores.build(value).instantiate();
    const Exec moved = std::move(exec);
    CHECK_THROWS_AS(value.set(4, exec), cudag::GraphError);
    CHECK(value.value() == 3);
}

TEST_CASE("a launch shape follows the parameter, from the start and after each set", "[exec][dynamic]") {
    const auto counts = device({0U, 0U});
    DynamicParam<int> n(3);
    GraphBuilder b;
    const auto node = b.kernel(cudag::grid_1d(100, 4), count_threads, counts.data(), counts.data() + 1, 1U);
    n.drive(node, [](int now) { return cudag::grid_1d(static_cast<std::size_t>(now), 4); });
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    const auto threads_and_blocks = [&](Exec& of) {
        write(counts.span(), {0U, 0U});
        run(of, stream);
        return read(counts);
    };
    CHECK(threads_and_blocks(exec) == std::vector{4U, 1U});
    CHECK(n.set(17, exec) == 1);
    CHECK(threads_and_blocks(exec) == std::vector{20U, 5U});
    CHECK(n.set(9, graph, exec) == 2);
    CHECK(threads_and_blocks(exec) == std::vector{12U, 3U});
    Exec later = graph.clone().instantiate();
    CHECK(threads_and_blocks(later) == std::vector{12U, 3U});
    CHECK(n.set(1, later) == 1);
    CHECK(threads_and_blocks(later) == std::vector{4U, 1U});
}

TEST_CASE("an argument and the launch shape of one kernel follow one parameter", "[exec][dynamic]") {
    const auto x = device(std::vector<float>(8, 1.0f));
    const auto y = device(std::vector<float>(8, 0.0f));
    DynamicParam<int> n(2);
    GraphBuilder b;
    n.drive(b.kernel(cudag::grid_1d(8, 2), saxpy, n, 3.0f, x, y),
            [](int now) { return cudag::grid_1d(static_cast<std::size_t>(now), 2); });
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
    CHECK(n.set(5, exec) == 2);
    run(exec, Stream());
    CHECK(read(y) == std::vector<float>{6, 6, 3, 3, 3, 0, 0, 0});
}

TEST_CASE("nodes follow a parameter in any order of drive, and keep all of it after a refusal", "[exec][dynamic]") {
    const auto x = device(std::vector<float>(8, 1.0f));
    const auto y = device(std::vector<float>(8, 0.0f));
    DynamicParam<int> n(2);
    const auto shape = [](int now) {
        return now == 7 ? cudag::LaunchConfig{.block = dim3(5000)} : cudag::grid_1d(static_cast<std::size_t>(now), 2);
    };
    GraphBuilder b;
    const auto first = b.kernel(cudag::grid_1d(8, 2), saxpy, n, 3.0f, x, y);
    const auto second = b.kernel(cudag::grid_1d(8, 2), saxpy, n, 1.0f, x, y).after(first);
    n.drive(second, [](int now) { return cudag::grid_1d(static_cast<std::size_t>(now), 2); });
    const auto third = b.kernel(cudag::grid_1d(8, 2), saxpy, n, 0.5f, x, y).after(second);
    n.drive(third, shape);
    n.drive(first, [](int now) { return cudag::grid_1d(static_cast<std::size_t>(now), 2); });
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK(n.set(4, graph, exec) == 12);
    CHECK_THROWS_AS(n.set(7, graph, exec), cudag::UpdateError); // the last node, after the others
    Exec later = graph.instantiate();
    for (Exec* const each : {&exec, &later}) {
        write(y.span(), std::vector<float>(8, 0.0f));
        run(*each, Stream());
        CHECK(read(y) == std::vector<float>{4.5f, 4.5f, 4.5f, 4.5f, 0, 0, 0, 0});
    }
}

TEST_CASE("sizes of copies and fills follow the parameter", "[exec][dynamic]") {
    const auto from = device({1, 2, 3, 4, 5, 6});
    const auto to = device({0, 0, 0, 0, 0, 0});
    const auto filled = device({0, 0, 0, 0, 0, 0});
    DynamicParam<std::size_t> n(2);
    GraphBuilder b;
    n.drive(b.memcpy(to, from));
    n.drive(b.memset(filled, 7), [](std::size_t now) { return now - 1; });
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(to) == Cells{1, 2, 0, 0, 0, 0});
    CHECK(read(filled) == Cells{7, 0, 0, 0, 0, 0});
    CHECK(n.set(5, exec) == 2);
    run(exec, Stream());
    CHECK(read(to) == Cells{1, 2, 3, 4, 5, 0});
    CHECK(read(filled) == Cells{7, 7, 7, 7, 0, 0});
}

TEST_CASE("what drives a size keeps the memory that the graph owns", "[exec][dynamic][owners]") {
    std::weak_ptr<const void> kept;
    DynamicParam<std::size_t> n(2);
    std::optional<Graph> graph;
    {
        const auto from = device({1, 2, 3});
        const cudag::DeviceBuffer<int> to(3);
        kept = from.owner();
        GraphBuilder b;
        n.drive(b.memcpy(to, from));
        graph = std::move(b).build();
    }
    Exec exec = graph->instantiate();
    n.set(3, exec, *graph);
    CHECK_FALSE(kept.expired());
    run(exec, Stream());
}

TEST_CASE("a size beyond what the node was made with is refused, and nothing changes anywhere", "[exec][dynamic]") {
    const auto from = device({1, 2, 3, 4});
    const auto to = device({0, 0, 0, 0});
    const auto counts = device({0U, 0U});
    DynamicParam<int> n(2);
    GraphBuilder b;
    n.drive(b.kernel({}, count_threads, counts.data(), counts.data() + 1, 1U),
            [](int now) { return cudag::LaunchConfig{.grid = dim3(static_cast<unsigned>(now))}; });
    n.drive(b.memcpy(to, from).label("copy"));
    Exec exec = std::move(b).build().instantiate();
    for (const int wrong : {5, 0, -3}) {
        const auto error = refused<cudag::UpdateError>([&] { n.set(wrong, exec); });
        CHECK_THAT(error.what(), ContainsSubstring("\"copy\"") &&
                                     ContainsSubstring("it takes 1 to 4, the number that it was made with"));
        CHECK_THAT(error.what(), ContainsSubstring("to " + std::to_string(wrong) + " elements"));
    }
    CHECK(n.value() == 2);
    run(exec, Stream());
    CHECK(read(to) == Cells{1, 2, 0, 0});
    CHECK(read(counts) == std::vector{2U, 2U});
}

TEST_CASE("a size is told as the number that it is, of whichever type", "[exec][dynamic]") {
    const auto filled = device({0, 0});
    const auto require_told = [&](auto largest, const char* text) {
        DynamicParam<int> n(1);
        GraphBuilder b;
        n.drive(b.memset(filled, 7), [largest](int now) { return now == 1 ? decltype(largest){1} : largest; });
        Exec exec = std::move(b).build().instantiate();
        const auto error = refused<cudag::UpdateError>([&] { n.set(2, exec); });
        CHECK_THAT(error.what(), ContainsSubstring("drives it to " + std::string(text) + " elements"));
    };
    require_told(std::numeric_limits<std::uint64_t>::max(), "18446744073709551615");
    require_told(std::numeric_limits<std::int64_t>::max(), "9223372036854775807");
    require_told(std::numeric_limits<std::int64_t>::min(), "-9223372036854775808");
    require_told(std::numeric_limits<unsigned>::max(), "4294967295");
    require_told(static_cast<signed char>(-1), "-1");
}

TEST_CASE("a launch shape that CUDA refuses undoes what was set before it", "[exec][dynamic]") {
    const auto cell = device({0});
    const auto filled = device({0, 0, 0});
    const auto counts = device({0U, 0U});
    DynamicParam<int> n(2);
    GraphBuilder b;
    const auto stored = b.kernel({}, store, cell.data(), n);
    n.drive(b.memset(filled, 7), [](int now) { return now % 4; });
    n.drive(b.kernel({}, count_threads, counts.data(), counts.data() + 1, 1U),
            [](int now) { return cudag::LaunchConfig{.grid = dim3(static_cast<unsigned>(now))}; });
    n.drive(b.kernel({}, nothing).after(stored),
            [](int now) { return cudag::LaunchConfig{.block = dim3(static_cast<unsigned>(now))}; });
    Exec exec = std::move(b).build().instantiate();
    CHECK_THROWS_AS(n.set(5001, exec), cudag::UpdateError);
    CHECK(n.value() == 2);
    run(exec, Stream());
    CHECK(read(cell) == Cells{2});
    CHECK(read(filled) == Cells{7, 7, 0});
    CHECK(read(counts) == std::vector{2U, 2U});
    n.set(65, exec);
    run(exec, Stream());
    CHECK(read(cell) == Cells{65});
    CHECK(read(counts) == std::vector{67U, 67U});
}

TEST_CASE("nodes are driven before the graph is built, and only what has a size in one dimension", "[exec][dynamic]") {
    const auto from = device({1, 2, 3, 4});
    const auto to = device({0, 0, 0, 0});
    DynamicParam<int> n(9);
    GraphBuilder b;
    const auto copy = b.memcpy(to, from);
    const auto error = refused<cudag::UpdateError>([&] { n.drive(copy); });
    CHECK_THAT(error.what(), ContainsSubstring("drives it to 9 elements"));
    const auto plane = b.memset2d(cudag::DeviceSpan2D<int>(to.data(), 2, 2, 2 * sizeof(int)), 1).after(copy);
    CHECK_THAT(refused<cudag::GraphError>([&] { n.drive(plane); }).what(),
               ContainsSubstring("more than one dimension"));
    const Graph graph = std::move(b).build();
    CHECK_THAT(refused<cudag::GraphError>([&] { n.drive(copy); }).what(), ContainsSubstring("its graph is built"));
    Exec exec = graph.instantiate();
    CHECK(n.set(1, exec) == 0);
}

TEST_CASE("nodes in children and bodies are driven where they end up", "[exec][dynamic]") {
    const auto counts = device({0U, 0U});
    const auto make = [&](GraphBuilder& b, const DynamicParam<unsigned>& n) {
        n.drive(b.kernel({}, count_threads, counts.data(), counts.data() + 1, 1U),
                [](unsigned now) { return cudag::LaunchConfig{.block = dim3(now)}; });
    };
    DynamicParam<unsigned> n(2);
    GraphBuilder inner;
    make(inner, n);
    GraphBuilder b;
    add_child(b, std::move(inner).build());
    b.if_(b.condition(1), [&](GraphBuilder& body) { make(body, n); });
    Exec exec = std::move(b).build().instantiate();
    CHECK(n.set(5, exec) == 2);
    run(exec, Stream());
    CHECK(read(counts) == std::vector{10U, 2U});
}
