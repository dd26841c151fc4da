// DynamicParam: one value that many kernel arguments follow.
#include "test.hpp"

#include <optional>

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
