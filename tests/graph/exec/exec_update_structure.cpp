// Exec::update by structure: graphs of the same work whose nodes come in another order.
#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "cuda_version.hpp"
#include "opaque.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::DifferenceKind;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Match;
using cudag::Stream;
using cudag::UpdateOptions;
using cudag::UpdateReport;
using cudag::UpdateVerdict;

namespace {

constexpr UpdateOptions by_structure{.match = Match::structure};

using Values = std::vector<int>;
using Places = std::vector<std::size_t>;

/// Branches beside each other, each of which stores a number in its cell and adds another one, and then their sum.
class Branches {
  public:
    static constexpr std::size_t count = 5;

    /// `order`: in which the branches are written; `first_first`: first nodes of all branches before second ones.
    struct Way {
        Places order = {0, 1, 2, 3, 4};
        bool first_first = false;
        bool labels = false;
    };

    [[nodiscard]] Graph build(const Values& stored, const Values& added, const Way& way) const {
        GraphBuilder b;
        std::vector<cudag::Node> firsts(count), ends;
        const auto label = [&](const char* what, std::size_t i) {
            return way.labels ? what + std::to_string(i) : std::string();
        };
        const auto first = [&](std::size_t i) {
            const auto node = b.kernel({}, store, cell(i), stored[i]);
            firsts[i] = way.labels ? node.label(label("store ", i)) : node;
        };
        const auto second = [&](std::size_t i) {
            const auto node = b.kernel({}, add, cell(i), cell(i), added[i]).after(firsts[i]);
            ends.push_back(way.labels ? node.label(label("add ", i)) : node);
        };
        for (const std::size_t i : way.order) {
            first(i);
            if (!way.first_first) second(i);
        }
        if (way.first_first)
            for (const std::size_t i : way.order)
                second(i);
        b.kernel({}, sum, cell(count), DeviceSpan<const int>(cell(0), count)).after(ends);
        return std::move(b).build();
    }
    [[nodiscard]] static Values expected(const Values& stored, const Values& added) {
        Values cells(count + 1);
        for (std::size_t i = 0; i < count; ++i)
            cells[count] += cells[i] = stored[i] + added[i];
        return cells;
    }
    [[nodiscard]] Values result(Exec& exec) const {
        write(cells_.span(), Values(count + 1, -1));
        run(exec, stream_);
        return read(cells_);
    }
    [[nodiscard]] int* cell(std::size_t i) const { return cells_.data() + i; }
    [[nodiscard]] const Stream& stream() const { return stream_; }

  private:
    DeviceBuffer<int> cells_{count + 1};
    Stream stream_;
};

const Values old_stored{1, 2, 3, 4, 5};
const Values old_added{10, 20, 30, 40, 50};
const Values new_stored{6, 2, 8, 14, 9};
const Values new_added{10, 21, 30, 41, 52};

/// Two kernels in a row, made in whatever order: *cell = value, *cell += more.
Graph pair_of(int* cell, int value, int more, bool backwards, const std::string& label = {}) {
    GraphBuilder b;
    std::optional<cudag::KernelNode<int*, const int*, int>> last;
    if (backwards) last = b.kernel({}, add, cell, cell, more);
    const auto first = b.kernel({}, store, cell, value);
    if (!backwards) last = b.kernel({}, add, cell, cell, more);
    last->after(first);
    if (!label.empty()) first.label(label);
    return std::move(b).build();
}

} // namespace

TEST_CASE("a graph made in another order updates the exec by structure", "[exec][update][structure]") {
    const Branches work;
    for (const bool labels : {false, true}) {
        CAPTURE(labels);
        const Graph graph = work.build(old_stored, old_added, {.labels = labels});
        Exec exec = graph.instantiate();
        cudaGraphExec_t native = exec.native();
        Branches::Way way{.first_first = true, .labels = labels};
        for (int turn = 0; turn < 20; ++turn) {
            std::next_permutation(way.order.begin(), way.order.end());
            way.first_first = turn % 3 != 0;
            const Values stored = turn % 2 == 0 ? new_stored : old_stored;
            const UpdateReport report = exec.update(work.build(stored, new_added, way), by_structure);
            INFO(report.to_string());
            REQUIRE(report.updated());
            CHECK(report.differences().empty());
            CHECK_FALSE(report.needs_instantiate());
            CHECK(work.result(exec) == Branches::expected(stored, new_added));
        }
        CHECK(exec.native() == native);
        CHECK_FALSE(exec.update(work.build(old_stored, old_added, way)).updated()); // as CUDA pairs them
        CHECK(work.result(exec) == Branches::expected(old_stored, new_added));
    }
}

TEST_CASE("a graph in the same order is updated by structure, too", "[exec][update][structure]") {
    const Branches work;
    Exec exec = work.build(old_stored, old_added, {}).instantiate();
    REQUIRE(exec.update(work.build(new_stored, new_added, {}), by_structure).updated());
    CHECK(work.result(exec) == Branches::expected(new_stored, new_added));
}

TEST_CASE("handles of the exec's own graph remain those to use after an update by structure",
          "[exec][update][structure]") {
    const Branches work;
    const Graph graph = work.build(old_stored, old_added, {});
    Exec exec = graph.instantiate();
    const Graph other = work.build(old_stored, old_added, {{4, 2, 0, 1, 3}, true});
    REQUIRE(exec.update(other, by_structure).updated());
    exec.update(graph.find(add).at(2), arg<2>(7)); // equal parameters are paired
    Values added = old_added;
    added[2] = 7;
    CHECK(work.result(exec) == Branches::expected(old_stored, added));
    CHECK_THROWS_AS(exec.update(other.find(add).at(2), arg<2>(8)), cudag::UpdateError);
}

TEST_CASE("labels tell nodes apart that look alike", "[exec][update][structure]") {
    const auto cells = device({0, 0});
    const auto build = [&](bool left_first, int left, int right) {
        GraphBuilder b;
        for (const bool is_left : {left_first, !left_first})
            b.kernel({}, store, cells.data() + (is_left ? 0 : 1), is_left ? left : right)
                .label(is_left ? "left" : "right");
        return std::move(b).build();
    };
    const Stream stream;
    const Graph graph = build(true, 1, 2);
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(build(false, 3, 4), by_structure).updated());
    exec.disable(graph.find_one("left"));
    run(exec, stream);
    CHECK(read(cells) == Values{0, 4});
}

TEST_CASE("a label that only one of the graphs gives keeps no nodes apart", "[exec][update][structure]") {
    const Branches work;
    Exec exec = work.build(old_stored, old_added, {.labels = true}).instantiate();
    REQUIRE(exec.update(work.build(new_stored, new_added, {{1, 0, 4, 3, 2}, true}), by_structure).updated());
    CHECK(work.result(exec) == Branches::expected(new_stored, new_added));
}

TEST_CASE("updates of all kinds follow an update by structure", "[exec][update][structure]") {
    const Branches work;
    Graph graph = work.build(old_stored, old_added, {});
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(work.build(new_stored, new_added, {{3, 4, 1, 0, 2}, true}), by_structure).updated());
    SECTION("by structure, to the exec's own graph as it was") {
        REQUIRE(exec.update(graph, by_structure).updated());
        CHECK(work.result(exec) == Branches::expected(old_stored, old_added));
    }
    SECTION("in order") {
        REQUIRE(exec.update(graph).updated());
        CHECK(work.result(exec) == Branches::expected(old_stored, old_added));
    }
    SECTION("by structure, to the exec's own graph, changed: there is nothing to apply then") {
        graph.update(graph.find(store).at(1), arg<1>(99));
        REQUIRE(exec.update(graph, by_structure).updated());
        CHECK(work.result(exec) == Branches::expected({1, 99, 3, 4, 5}, old_added));
        CHECK(exec.apply(graph) == 0);
    }
    SECTION("apply: of what changed in the exec's own graph alone") {
        graph.update(graph.find(store).at(1), work.cell(1), 99); // nodes that touch the same memory are paired
        CHECK(exec.apply(graph) == 1);
        CHECK(work.result(exec) == Branches::expected({6, 99, 8, 14, 9}, new_added));
    }
    SECTION("of one node") {
        exec.update(graph.find(add).at(3), arg<2>(1));
        CHECK(work.result(exec) == Branches::expected(new_stored, {10, 21, 30, 1, 52}));
    }
}

TEST_CASE("what Graph::update changed comes with an update by structure", "[exec][update][structure]") {
    const Branches work;
    Exec exec = work.build(old_stored, old_added, {}).instantiate();
    Graph other = work.build(new_stored, new_added, {{2, 1, 0, 4, 3}, true});
    other.update(other.find(store).at(0), arg<1>(77)); // of branch 2
    REQUIRE(exec.update(other, by_structure).updated());
    CHECK(work.result(exec) == Branches::expected({6, 2, 77, 14, 9}, new_added));
}

TEST_CASE("an update by structure brings another grid", "[exec][update][structure]") {
    const auto counts = device({0U, 0U});
    const auto build = [&](unsigned blocks, bool count_last) {
        GraphBuilder b;
        const auto count = [&] {
            b.kernel({.grid = blocks, .block = 8}, count_threads, counts.data(), counts.data() + 1, 3U);
        };
        if (!count_last) count();
        b.kernel({}, nothing);
        if (count_last) count();
        return std::move(b).build();
    };
    const Stream stream;
    Exec exec = build(1, false).instantiate();
    REQUIRE(exec.update(build(4, true), by_structure).updated());
    run(exec, stream);
    CHECK(read(counts) == std::vector{32U, 12U});
}

TEST_CASE("another edge is refused by name, and nothing has changed", "[exec][update][structure]") {
    const Branches work;
    const Graph graph = work.build(old_stored, old_added, {.labels = true});
    Exec exec = graph.instantiate();
    GraphBuilder b;
    std::vector<cudag::Node> ends;
    std::optional<cudag::Node> before;
    for (std::size_t i = Branches::count; i-- > 0;) {
        const auto first = b.kernel({}, store, work.cell(i), 100).label("store " + std::to_string(i));
        const auto last =
            b.kernel({}, add, work.cell(i), work.cell(i), 100).label("add " + std::to_string(i)).after(first);
        if (i == 1) first.after(*before);
        before = last;
        ends.push_back(last);
    }
    b.kernel({}, sum, work.cell(5), DeviceSpan<const int>(work.cell(0), 5)).after(ends);
    const UpdateReport report = exec.update(std::move(b).build(), by_structure);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK_FALSE(report.updated());
    CHECK(report.needs_instantiate());
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    REQUIRE(report.differences().size() == 1);
    const cudag::Difference& difference = report.differences().front();
    CHECK(difference.kind == DifferenceKind::edge);
    CHECK(difference.needs_instantiate);
    CHECK(difference.before == graph.find_one("store 1"));
    CHECK_THAT(report.to_string(), ContainsSubstring("in every order") && ContainsSubstring("kernel \"store 1\"") &&
                                       ContainsSubstring("edge from kernel \"add 2\"") &&
                                       ContainsSubstring("missing -> there"));
    CHECK(work.result(exec) == Branches::expected(old_stored, old_added));
}

TEST_CASE("a missing edge is told, not those of nodes that are alike in both", "[exec][update][structure]") {
    const auto build = [](bool ordered) {
        GraphBuilder b;
        const auto first = b.kernel({}, nothing).label("first");
        for (int i = 0; i < 3; ++i) {
            first.after(b.kernel({}, nothing));
            b.kernel({}, nothing).after(first);
        }
        const auto second = b.kernel({}, nothing).label("second");
        if (ordered) second.after(first);
        return std::move(b).build();
    };
    Exec exec = build(true).instantiate();
    const UpdateReport report = exec.update(build(false), by_structure);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    REQUIRE(report.differences().size() == 1);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"second\"") &&
                                       ContainsSubstring("edge from kernel \"first\"") &&
                                       ContainsSubstring("there -> missing"));
}

TEST_CASE("another kind of edge is refused by name", "[exec][update][structure]") {
    const auto build = [](bool early, bool backwards) {
        GraphBuilder b;
        if (backwards) {
            const auto second = b.kernel({}, nothing).label("second");
            const auto first = b.kernel({}, nothing).label("first");
            early ? second.after(cudag::programmatic(first)) : second.after(first);
        } else {
            const auto first = b.kernel({}, nothing).label("first");
            b.kernel({}, nothing).label("second").after(cudag::programmatic(first));
        }
        return std::move(b).build();
    };
    Exec exec = build(true, false).instantiate();
    CHECK(exec.update(build(true, true), by_structure).updated());
    const UpdateReport report = exec.update(build(false, true), by_structure);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK_THAT(report.to_string(),
               ContainsSubstring("programmatic edge from kernel \"first\"") && ContainsSubstring("there -> missing"));
}

TEST_CASE("nodes without a partner are told by kind and number", "[exec][update][structure]") {
    const Branches work;
    Exec exec = work.build(old_stored, old_added, {}).instantiate();
    GraphBuilder b;
    for (int i = 0; i < 3; ++i)
        b.kernel({}, store, work.cell(0), 1);
    b.memset(DeviceSpan<int>(work.cell(1), 1), 0).label("fill");
    const UpdateReport report = exec.update(std::move(b).build(), by_structure);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK_THAT(report.to_string(),
               ContainsSubstring("nodes like it: 5 -> 3") && ContainsSubstring("nodes like it: 5 -> 0") &&
                   ContainsSubstring("memset \"fill\"") && ContainsSubstring("nodes like it: 0 -> 1"));
    for (const cudag::Difference& difference : report.differences())
        CHECK(difference.kind == DifferenceKind::node);
    CHECK(work.result(exec) == Branches::expected(old_stored, old_added));
}

TEST_CASE("nodes that only their places tell apart are told by number", "[exec][update][structure]") {
    const auto build = [](bool in_a_line) {
        GraphBuilder b;
        const auto first = b.kernel({}, nothing);
        const auto second = b.kernel({}, nothing).after(first);
        const auto third = b.kernel({}, nothing);
        third.after(in_a_line ? second : first);
        return std::move(b).build();
    };
    Exec exec = build(true).instantiate();
    const UpdateReport report = exec.update(build(false), by_structure);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK_THAT(report.to_string(), ContainsSubstring("nodes like it at such a place"));
}

TEST_CASE("another kernel in another order, or kind, under a label is refused with both", "[exec][update][structure]") {
    const auto cells = device({1, 2});
    const auto build = [&](int which, bool turned = false) {
        GraphBuilder b;
        if (turned) b.kernel({}, nothing);
        if (which == 0) b.kernel({}, add, cells.data(), cells.data() + 1, 10).label("work");
        if (which == 1) b.kernel({}, subtract, cells.data(), cells.data() + 1, 10).label("work");
        if (which == 2) b.memset(cells, 4).label("work");
        if (!turned) b.kernel({}, nothing);
        return std::move(b).build();
    };
    const Stream stream;
    Exec exec = build(0).instantiate();
    const UpdateReport other_kernel = exec.update(build(1, true), by_structure);
    CHECK(other_kernel.verdict() == UpdateVerdict::function_changed);
    REQUIRE(other_kernel.differences().size() == 1);
    CHECK(other_kernel.differences().front().kind == DifferenceKind::function);
    CHECK_THAT(other_kernel.to_string(),
               ContainsSubstring("kernel \"work\"") && ContainsSubstring("add") && ContainsSubstring("subtract"));
    const UpdateReport other_kind = exec.update(build(2), by_structure);
    CHECK(other_kind.verdict() == UpdateVerdict::node_kind_changed);
    CHECK_THAT(other_kind.to_string(), ContainsSubstring("kind: kernel -> memset"));
    run(exec, stream);
    CHECK(read(cells) == Values{12, 2});
    REQUIRE(exec.update(build(1)).updated());
    const UpdateReport back = exec.update(build(0, true), by_structure);
    REQUIRE(back.differences().size() == 1);
    CHECK_THAT(back.differences().front().old_value, ContainsSubstring("subtract"));
    CHECK_THAT(back.differences().front().new_value, ContainsSubstring("add"));
}

TEST_CASE("labels that contradict each other are told", "[exec][update][structure]") {
    const auto build = [](const char* label) {
        GraphBuilder b;
        b.kernel({}, nothing).label(label);
        b.kernel({}, nothing).label("in both");
        return std::move(b).build();
    };
    Exec exec = build("step 5").instantiate();
    const UpdateReport report = exec.update(build("step 6"), by_structure);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    REQUIRE(report.differences().size() == 2);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"step 5\"") && ContainsSubstring("kernel \"step 6\"") &&
                                       ContainsSubstring("nodes of this label: 1 -> 0"));
}

TEST_CASE("copies, fills and host nodes come in another order", "[exec][update][structure]") {
    const auto cells = device({0, 0, 0});
    const auto source = device({5, 6, 7});
    int seen = 0, other_seen = 0;
    const auto build = [&](bool backwards, std::size_t from, int filled, int& slot) {
        GraphBuilder b;
        const std::vector<std::function<void()>> nodes{
            [&] { b.memcpy(cells.span().subspan(0, 1), source.span().subspan(from, 1)).label("copy"); },
            [&] { b.memset(cells.span().subspan(1, 1), filled); },
            [&] { b.memset(cells.span().subspan(2, 1), filled + 1); },
            [&] { b.host([&slot, filled] { slot = filled; }); },
        };
        for (std::size_t i = 0; i < nodes.size(); ++i)
            nodes[backwards ? nodes.size() - 1 - i : i]();
        return std::move(b).build();
    };
    const Stream stream;
    Exec exec = build(false, 0, 1, seen).instantiate();
    REQUIRE(exec.update(build(true, 2, 8, other_seen), by_structure).updated());
    run(exec, stream);
    CHECK(read(cells) == Values{7, 8, 9});
    CHECK(seen == 0);
    CHECK(other_seen == 8);
}

TEST_CASE("disabled nodes stay disabled in an update by structure", "[exec][update][structure]") {
    const auto cells = device({0, 0, 0});
    const auto source = device({5});
    cudag::Node kernel, fill, copy;
    const auto build = [&](bool backwards, int value) {
        GraphBuilder b;
        const auto add_fill = [&] { return b.memset(cells.span().subspan(1, 1), value).label("fill"); };
        if (backwards) add_fill();
        const auto copied = b.memcpy(cells.span().subspan(2, 1), source).label("copy");
        const auto stored = b.kernel({}, store, cells.data(), value).label("kernel");
        if (!backwards)
            std::tie(kernel, fill, copy) =
                std::tuple<cudag::Node, cudag::Node, cudag::Node>(stored, add_fill(), copied);
        return std::move(b).build();
    };
    const Stream stream;
    const Graph graph = build(false, 1);
    Exec exec = graph.instantiate();
    for (const cudag::Node& node : {kernel, fill, copy})
        exec.disable(node);
    REQUIRE(exec.update(build(true, 2), by_structure).updated());
    run(exec, stream);
    CHECK(read(cells) == Values{0, 0, 0});
    for (const cudag::Node& node : {kernel, fill, copy}) {
        CHECK_FALSE(exec.is_enabled(node));
        exec.enable(node);
    }
    run(exec, stream);
    CHECK(read(cells) == Values{2, 2, 5});
}

TEST_CASE("children are matched by what is inside them", "[exec][update][structure]") {
    const auto cells = device({0, 0, 0});
    const auto build = [&](bool backwards, int value) {
        GraphBuilder b;
        GraphBuilder single;
        single.kernel({}, store, cells.data() + 2, value);
        const Graph third = std::move(single).build();
        const Graph first = pair_of(cells.data(), value, 10, backwards);
        const Graph second = pair_of(cells.data() + 1, value, 20, !backwards);
        if (backwards) {
            b.child(third);
            b.child(second);
            b.child(first);
        } else {
            b.child(first);
            b.child(second);
            b.child(third);
        }
        return std::move(b).build();
    };
    const Stream stream;
    const Graph graph = build(false, 1);
    Exec exec = graph.instantiate();
    const UpdateReport report = exec.update(build(true, 5), by_structure);
    INFO(report.to_string());
    REQUIRE(report.updated());
    run(exec, stream);
    CHECK(read(cells) == Values{15, 25, 5});
}

TEST_CASE("what has no partner inside a child is named", "[exec][update][structure]") {
    const auto cells = device({0});
    const auto build = [&](bool with_more, bool backwards) {
        GraphBuilder inner;
        inner.kernel({}, store, cells.data(), 1).label("first");
        if (with_more) inner.kernel({}, nothing).label("more");
        const Graph graph = std::move(inner).build();
        GraphBuilder b;
        if (backwards) b.kernel({}, nothing).label("beside");
        b.child(graph).label("inner");
        if (!backwards) b.kernel({}, nothing).label("beside");
        return std::move(b).build();
    };
    Exec exec = build(false, false).instantiate();
    const UpdateReport report = exec.update(build(true, true), by_structure);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"more\" inside child \"inner\"") &&
                                       ContainsSubstring("nodes like it: 0 -> 1"));
}

TEST_CASE("a node that moved into a child is told by its place", "[exec][update][structure]") {
    const auto build = [](bool moved) {
        GraphBuilder one, two;
        one.kernel({}, nothing).label("stays");
        two.kernel({}, nothing).label("is here");
        (moved ? two : one).kernel({}, nothing).label("moves");
        const Graph first = std::move(one).build(), second = std::move(two).build();
        GraphBuilder b;
        b.child(first).label("one");
        b.child(second).label("two");
        return std::move(b).build();
    };
    Exec exec = build(false).instantiate();
    const UpdateReport report = exec.update(build(true), by_structure);
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"moves\"") &&
                                       ContainsSubstring("place inside child \"one\"") &&
                                       ContainsSubstring("place inside child \"two\""));
}

TEST_CASE("a copy of regions is refused by field where the order is another, and taken where it is the same",
          "[exec][update][structure]") {
    const auto from = device({1, 2, 3, 4}), other = device({5, 6, 7, 8});
    const auto to = device(Values(4, 0));
    const auto build = [&](const DeviceBuffer<int>& source, bool backwards) {
        GraphBuilder b;
        const auto copy = [&] {
            b.memcpy2d(cudag::DeviceSpan2D<int>(to, 2, 2), cudag::DeviceSpan2D<int>(source, 2, 2)).label("block");
        };
        if (!backwards) copy();
        b.kernel({}, nothing);
        if (backwards) copy();
        return std::move(b).build();
    };
    const Stream stream;
    const Graph graph = build(from, false);
    Exec exec = graph.instantiate();
    CHECK(exec.update(build(from, true), by_structure).updated()); // nothing differs
    const UpdateReport report = exec.update(build(other, true), by_structure);
    CHECK(report.verdict() == UpdateVerdict::parameters_changed);
    CHECK(report.needs_instantiate());
    REQUIRE_FALSE(report.differences().empty());
    CHECK(report.differences().front().needs_instantiate);
    CHECK(report.differences().front().old_value != report.differences().front().new_value);
    CHECK_THAT(report.to_string(), ContainsSubstring("memcpy \"block\"") && ContainsSubstring("source: ") &&
                                       ContainsSubstring("another order"));
    run(exec, stream);
    CHECK(read(to) == Values{1, 2, 3, 4});
    const UpdateReport in_order = exec.update(build(other, false), by_structure);
    const bool cuda_takes_it = graph.instantiate().update(build(other, false)).updated();
    CHECK(in_order.updated() == cuda_takes_it);
}

TEST_CASE("another attribute is refused with both values, unless an equal node has it", "[exec][update][structure]") {
    const auto build = [](int first, int second, bool backwards) {
        GraphBuilder b;
        if (backwards) b.host([] {});
        b.kernel({.priority = first}, nothing);
        b.kernel({.priority = second}, nothing);
        if (!backwards) b.host([] {});
        return std::move(b).build();
    };
    Exec exec = build(-1, -2, false).instantiate();
    CHECK(exec.update(build(-2, -1, true), by_structure).updated());
    const UpdateReport report = exec.update(build(-2, -3, true), by_structure);
    CHECK(report.verdict() == UpdateVerdict::attributes_changed);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("priority"));
}

TEST_CASE("where nodes are paired in another order, nothing stays of the one tried first",
          "[exec][update][structure]") {
    const auto cells = device({0, 0});
    const DeviceBuffer<int> left(1), right(1), elsewhere(1);
    std::vector<cudag::KernelNode<int*, int>> stores;
    std::optional<cudag::KernelNode<int*, int>> beside;
    const auto build = [&](bool backwards, int value) {
        GraphBuilder b;
        stores.clear();
        for (const std::size_t i : backwards ? Places{1, 0} : Places{0, 1}) {
            const auto first = b.kernel({.priority = i == 0 ? -1 : -2}, nothing); // no update changes that
            stores.push_back(b.kernel({}, store, cells.data() + i, 1).after(first));
            const auto declares = b.kernel({}, nothing).writes(i == 0 ? left : right).after(stores.back());
            if (!backwards) declares.label(i == 0 ? "left" : "right");
        }
        beside = b.kernel({}, store, elsewhere, value);
        return std::move(b).build();
    };
    const Graph graph = build(false, 1);
    const auto handles = stores;
    const auto moves = *beside;
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(build(true, 2), by_structure).updated());
    for (const bool is_left : {true, false})
        CHECK_THAT(refused<cudag::RaceError>([&] { exec.update(moves, arg<0>(is_left ? left : right)); }).what(),
                   ContainsSubstring(is_left ? "kernel \"left\"" : "kernel \"right\""));
    exec.update(handles[0], arg<1>(5));
    exec.update(handles[1], arg<1>(6));
    run(exec, Stream());
    CHECK(read(cells) == Values{5, 6});
    CHECK(read(elsewhere) == Values{2});
}

TEST_CASE("attributes stay in updates by structure, one after the other", "[exec][update][structure][attributes]") {
    const auto cell = device({0});
    std::optional<cudag::KernelNode<int*, int>> node;
    const auto build = [&](int value, bool backwards) {
        GraphBuilder b;
        if (backwards) b.host([] {});
        node = b.kernel({.priority = -1}, store, cell, value);
        if (!backwards) b.host([] {});
        return std::move(b).build();
    };
    const Graph graph = build(1, false);
    const auto handle = *node;
    Exec exec = graph.instantiate();
    for (int value = 2; value < 6; ++value) {
        REQUIRE(exec.update(build(value, value % 2 == 0), by_structure).updated());
        run(exec, Stream());
        CHECK(read(cell) == Values{value});
        exec.update(handle, {.priority = -1}, cell, 7);
        CHECK_THAT(refused<cudag::UpdateError>([&] { exec.update(handle, {.priority = -2}, cell, 7); }).what(),
                   ContainsSubstring("priority"));
        run(exec, Stream());
        CHECK(read(cell) == Values{7});
    }
}

TEST_CASE("what is known of a kernel stays where a graph of unknown kernels updates it", "[exec][update][structure]") {
    const auto cell = device({0});
    std::optional<cudag::KernelNode<int*, int>> node;
    const auto build = [&](int value) {
        GraphBuilder b;
        node = b.kernel({}, store, cell, value);
        return std::move(b).build();
    };
    const Graph graph = build(1);
    const auto handle = *node;
    Exec exec = graph.instantiate();
    for (int value = 2; value < 5; ++value) {
        cudaGraph_t copy = nullptr;
        cudag::check(cudaGraphClone(&copy, build(value).native()));
        REQUIRE(exec.update(Graph::adopt(copy), by_structure).updated());
        REQUIRE(exec.update(build(value), by_structure).updated()); // nothing differs, and what came before goes
        CHECK_THAT(refused<cudag::UpdateError>([&] { exec.update(handle, {.block = 2048}, cell, 7); }).what(),
                   ContainsSubstring("block.x is 2048") && ContainsSubstring("1024"));
        exec.update(handle, arg<0>(cell));
        run(exec, Stream());
        CHECK(read(cell) == Values{value});
    }
}

TEST_CASE("a node that cudag does not know is taken in no other order", "[exec][update][structure][adopt]") {
    if (reads_conditionals()) return; // then it is known
    const auto cells = device({0, 0});
    const auto build = [&](bool backwards, int value) {
        cudaGraph_t raw = nullptr;
        cudag::check(cudaGraphCreate(&raw, 0));
        if (backwards) add_raw_conditional(raw, {}, cells.data(), value);
        add_raw_store(raw, {}, cells.data() + 1, value);
        if (!backwards) add_raw_conditional(raw, {}, cells.data(), value);
        return Graph::adopt(raw);
    };
    Exec exec = build(false, 1).instantiate();
    const UpdateReport report = exec.update(build(true, 2), by_structure);
    CHECK(report.verdict() == UpdateVerdict::parameters_changed);
    CHECK(report.needs_instantiate());
    REQUIRE_FALSE(report.differences().empty());
    CHECK(report.differences().front().field == "parameters");
    CHECK(report.differences().front().needs_instantiate);
    CHECK_THAT(report.to_string(), ContainsSubstring("conditional") && ContainsSubstring("not known"));
    run(exec, Stream());
    CHECK(read(cells) == Values{1, 1});
}

TEST_CASE("another cluster is refused in any order", "[exec][update][structure]") {
    const auto build = [](unsigned cluster, bool backwards) {
        GraphBuilder b;
        if (backwards) b.host([] {});
        b.kernel({.grid = 4, .block = 32, .cluster = cluster}, nothing).label("k");
        if (!backwards) b.host([] {});
        return std::move(b).build();
    };
    Exec exec = build(2, false).instantiate();
    for (const bool backwards : {false, true}) {
        const UpdateReport report = exec.update(build(4, backwards), by_structure);
        CHECK(report.verdict() == UpdateVerdict::attributes_changed);
        CHECK_THAT(report.to_string(),
                   ContainsSubstring("kernel \"k\"") && ContainsSubstring("cluster: (2, 1, 1) -> (4, 1, 1)"));
    }
    CHECK(exec.update(build(2, true), by_structure).updated());
}

TEST_CASE("graph memory is taken as a whole where the order is the same, and else refused",
          "[exec][update][structure]") {
    const auto out = device({0});
    const auto build = [&](int value, bool backwards) {
        GraphBuilder b;
        if (backwards) b.kernel({}, nothing).label("beside");
        const auto memory = b.alloc<int>(4).label("memory");
        const auto fill = b.kernel({}, store, memory.span().data(), value).after(memory);
        const auto copy = b.memcpy(out, memory.span().subspan(0, 1)).after(fill);
        b.free(memory).after(copy);
        if (!backwards) b.kernel({}, nothing).label("beside");
        return std::move(b).build();
    };
    const Stream stream;
    Exec exec = build(1, false).instantiate();
    REQUIRE(exec.update(build(2, false), by_structure).updated());
    run(exec, stream);
    CHECK(read(out) == Values{2});
    const UpdateReport report = exec.update(build(3, true), by_structure);
    CHECK_FALSE(report.updated());
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(),
               ContainsSubstring("alloc \"memory\"") && ContainsSubstring("address of graph memory"));
    run(exec, stream);
    CHECK(read(out) == Values{2});
}

TEST_CASE("an exec keeps what an update by structure came from until the next one",
          "[exec][update][structure][owners]") {
    const Branches work;
    Watched first, second;
    const auto build = [](std::shared_ptr<int> cell, int value, bool backwards) {
        GraphBuilder b;
        if (backwards) b.kernel({}, nothing);
        b.kernel({}, store, std::move(cell), value);
        if (!backwards) b.kernel({}, nothing);
        return std::move(b).build();
    };
    const auto plain = device({0});
    Exec exec = build(std::shared_ptr<int>(plain.data(), [](int*) {}), 1, false).instantiate();
    REQUIRE(exec.update(build(first.take(), 21, true), by_structure).updated());
    CHECK(first.alive());
    run(exec, work.stream());
    CHECK(first.value() == 21);
    {
        Graph graph = build(std::shared_ptr<int>(plain.data(), [](int*) {}), 3, true);
        graph.update(graph.find(store).at(0), second.take(), 22);
        REQUIRE(exec.update(graph, by_structure).updated());
        graph.update(graph.find(store).at(0), plain.data(), 5); // for other Execs
        CHECK(second.alive());
    }
    CHECK(released(first, work.stream()));
    run(exec, work.stream());
    CHECK(second.alive());
    CHECK(second.value() == 22);
    REQUIRE(exec.update(build(std::shared_ptr<int>(plain.data(), [](int*) {}), 4, false)).updated());
    CHECK(released(second, work.stream()));
}

TEST_CASE("owners of nodes that stay as they are live on", "[exec][update][structure][owners]") {
    const Stream stream;
    Watched cell;
    std::shared_ptr<int> owner = cell.take();
    int* const address = owner.get();
    const auto build = [&] {
        GraphBuilder b;
        b.kernel({}, store, address, 5); // borrowed
        return std::move(b).build();
    };
    Exec exec = build().instantiate();
    Graph graph = build();
    graph.update(graph.find(store).at(0), owner, 5);
    const std::weak_ptr<int> watch = owner;
    REQUIRE(exec.update(graph, by_structure).updated());
    graph.update(graph.find(store).at(0), arg<0>(address));
    owner.reset();
    CHECK_FALSE(watch.expired());
    run(exec, stream);
    CHECK(cell.value() == 5);
    REQUIRE(exec.update(build(), by_structure).updated());
    CHECK(released(watch, stream));
}

TEST_CASE("what an update by structure kept, though it changed no node, goes with an update of the whole",
          "[exec][update][structure][owners]") {
    const DeviceBuffer<int> cell(1);
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    const auto build = [&](const std::shared_ptr<int>& kept) {
        GraphBuilder b;
        b.kernel({}, store, cell.data(), 5);
        if (kept) b.retain(kept);
        return std::move(b).build();
    };
    Exec exec = build(nullptr).instantiate();
    REQUIRE(exec.update(build(std::exchange(owner, nullptr)), by_structure).updated());
    const Stream stream;
    run(exec, stream);
    CHECK_FALSE(watch.expired());
    REQUIRE(exec.update(build(nullptr)).updated());
    CHECK(released(watch, stream));
}

TEST_CASE("a graph of the same work in another order is an update, where that is asked for",
          "[exec][update][instantiate][structure]") {
    const Branches work;
    Exec exec = work.build(old_stored, old_added, {}).instantiate();
    const Branches::Way way{{4, 3, 2, 1, 0}, true};
    CHECK(exec.update_or_instantiate(work.build(new_stored, new_added, way), by_structure).updated());
    CHECK(exec.update_counts() == cudag::UpdateCounts{1, 0});
    CHECK(work.result(exec) == Branches::expected(new_stored, new_added));
    GraphBuilder b;
    b.kernel({}, store, work.cell(0), 3);
    CHECK_FALSE(exec.update_or_instantiate(std::move(b).build(), by_structure).updated());
    CHECK(exec.update_counts() == cudag::UpdateCounts{1, 1});
    CHECK(work.result(exec) == Values{3, -1, -1, -1, -1, -1});
}

TEST_CASE("too many nodes that look alike are refused for that", "[exec][update][structure][many]") {
    const auto build = [](const std::vector<std::size_t>& rings) {
        GraphBuilder b;
        for (const std::size_t length : rings) { // each node of a ring of sources and sinks looks like any other
            std::vector<cudag::Node> sources;
            for (std::size_t i = 0; i < length; ++i)
                sources.push_back(b.kernel({}, nothing));
            for (std::size_t i = 0; i < length; ++i)
                b.kernel({}, nothing).after(sources[i], sources[(i + 1) % length]);
        }
        return std::move(b).build();
    };
    std::vector<std::size_t> rings(20, 4);
    rings.insert(rings.end(), {3, 3});
    Exec exec = build(rings).instantiate();
    rings.resize(20);
    rings.push_back(6);
    const UpdateReport report = exec.update(build(rings), by_structure);
    CHECK(report.verdict() == UpdateVerdict::refused);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.reason(),
               ContainsSubstring("too many nodes look alike") && ContainsSubstring("give them labels"));
}

TEST_CASE("a thousand equal nodes beside each other are matched", "[exec][update][structure]") {
    constexpr int count = 1000;
    const auto cells = device(Values(count, 0));
    const auto build = [&](bool backwards, int plus) {
        GraphBuilder b;
        if (!backwards) b.host([] {});
        for (int i = 0; i < count; ++i) {
            const int place = backwards ? count - 1 - i : i;
            b.kernel({}, store, cells.data() + place, place + plus);
        }
        if (backwards) b.host([] {});
        return std::move(b).build();
    };
    Exec exec = build(false, 0).instantiate();
    REQUIRE(exec.update(build(true, 1), by_structure).updated());
    run(exec, Stream());
    Values expected(count);
    std::iota(expected.begin(), expected.end(), 1);
    CHECK(read(cells) == expected);
}

TEST_CASE("other threads update graphs that give their parameters by structure", "[exec][update][structure][threads]") {
    const Branches work;
    Graph other = work.build(new_stored, new_added, {{1, 0, 2, 4, 3}, true});
    const auto node = other.find(store).at(0);
    std::vector<Exec> execs;
    const Graph graph = work.build(old_stored, old_added, {});
    for (int i = 0; i < 2; ++i)
        execs.push_back(graph.instantiate());
    std::vector<std::thread> threads;
    std::atomic<int> updates = 0;
    for (Exec& exec : execs)
        threads.emplace_back([&] {
            for (int turn = 0; turn < 20; ++turn)
                if (exec.update(other, by_structure).updated()) ++updates;
        });
    threads.emplace_back([&] {
        for (int turn = 0; turn < 20; ++turn)
            other.update(node, arg<1>(turn));
    });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(updates == 40);
    for (Exec& exec : execs) {
        REQUIRE(exec.update(other, by_structure).updated());
        CHECK(work.result(exec) == Branches::expected({6, 19, 8, 14, 9}, new_added));
    }
}

TEST_CASE("a kernel that became another one is updated where the order stayed", "[exec][update][structure]") {
    const auto cells = device({0, 0, 0});
    const auto build = [&](bool adds, bool turned) {
        GraphBuilder b;
        const auto first = [&] {
            if (adds)
                b.kernel({}, add, cells.data(), cells.data(), 5).label("first");
            else
                b.kernel({}, store, cells.data(), 1).label("first");
        };
        if (!turned) first();
        const auto second = b.kernel({}, store, cells.data() + 1, 2);
        b.memset(cells.span().subspan(2, 1), 0).after(second);
        if (turned) first();
        return std::move(b).build();
    };
    const Stream stream;
    const Graph stores = build(false, false);
    Exec exec = stores.instantiate();
    run(exec, stream);
    CHECK(read(cells) == Values{1, 2, 0});
    CHECK(exec.update(build(true, false), by_structure).updated());
    run(exec, stream);
    CHECK(read(cells) == Values{6, 2, 0});
    CHECK(exec.update(build(false, false), by_structure).updated());
    run(exec, stream);
    CHECK(read(cells) == Values{1, 2, 0});
    const UpdateReport report = exec.update(build(true, true), by_structure);
    CHECK(report.verdict() == UpdateVerdict::function_changed);
    CHECK(report.needs_instantiate());
    run(exec, stream);
    CHECK(read(cells) == Values{1, 2, 0});
}
