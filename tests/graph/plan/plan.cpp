// Plans: CUDA gets other edges than those that were written, which say the same.
#include <cudag/format.hpp>

#include "cuda_edges.hpp"
#include "cuda_version.hpp"
#include "native.hpp"
#include "native_nodes.hpp"
#include "plan_graphs.hpp"

#include <algorithm>
#include <optional>

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::JoinForm;
using cudag::Node;
using cudag::Plan;
using cudag::PlanReport;
using cudag::Stream;

namespace {

void add_block(const Kernels& before, const Kernels& after) {
    for (const auto& to : after)
        for (const auto& from : before)
            to.after(from);
}

} // namespace

TEST_CASE("CUDA gets no edge that others imply, and the graph shows those that were written", "[plan]") {
    GraphBuilder b;
    const Kernels k = add_kernels(b, 4);
    k[1].after(k[0]);
    k[2].after(k[1], k[0]);
    k[3].after(k[0], k[1], k[2]);
    const Graph graph = std::move(b).build();
    const Exec exec = graph.instantiate();
    CHECK(graph.edge_count() == 6);
    CHECK(native_edges(graph.native()) ==
          NativeEdges{{k[0].native(), k[1].native()}, {k[1].native(), k[2].native()}, {k[2].native(), k[3].native()}});
    CHECK(exec.plan().edges_before() == 6);
    CHECK(exec.plan().edges_after() == 3);
}

TEST_CASE("a long line that CUDA gets while it is written is planned like any other", "[plan]") {
    constexpr std::size_t nodes = 5000;
    const auto line = [](GraphBuilder& b) {
        Kernels k = add_kernels(b, nodes);
        for (std::size_t i = 1; i < nodes; ++i)
            k[i].after(k[i - 1]);
        return k;
    };
    GraphBuilder b;
    const Kernels k = line(b);
    SECTION("alone") {
        const Graph graph = std::move(b).build();
        static_cast<void>(graph.instantiate()); // with an edge from the first node to the last
        static_cast<void>(graph.instantiate({.plan = without_ends}));
        CHECK(native_edges(graph.native()).size() == nodes - 1);
    }
    SECTION("with a node written last that stands in the line") {
        const auto last = add_kernels(b, 1).front();
        last.after(k[99]);
        k[100].after(last); // implies the edge from 99 to 100
        const Graph graph = std::move(b).build();
        static_cast<void>(graph.instantiate({.plan = without_ends}));
        const NativeEdges edges = native_edges(graph.native());
        CHECK(edges.size() == nodes);
        CHECK(std::ranges::find(edges, std::pair(k[99].native(), k[100].native())) == edges.end());
        CHECK(graph.edge_count() == nodes + 1);
        GraphBuilder c;
        const Kernels same = line(c);
        const auto other = add_kernels(c, 1).front();
        other.after(same[99]);
        same[100].after(other);
        Exec exec = graph.instantiate({.plan = without_ends});
        CHECK(exec.update(std::move(c).build()).updated());
    }
    SECTION("without one of its nodes") {
        b.remove(k[100]);
        k[101].after(k[99]);
        const Graph graph = std::move(b).build();
        static_cast<void>(graph.instantiate({.plan = without_ends}));
        CHECK(native_edges(graph.native()).size() == nodes - 2);
    }
    SECTION("without one of its edges") {
        b.remove_edge(k[99], k[100]);
        const Graph graph = std::move(b).build();
        CHECK(graph.edge_count() == nodes - 2);
        static_cast<void>(graph.instantiate({.plan = without_ends}));
        const NativeEdges edges = native_edges(graph.native());
        CHECK(edges.size() == nodes - 2);
        CHECK(std::ranges::find(edges, std::pair(k[99].native(), k[100].native())) == edges.end());
    }
    SECTION("with an edge written twice") {
        k[1].after(k[0]);
        const Graph graph = std::move(b).build();
        CHECK(graph.edge_count() == nodes - 1);
        static_cast<void>(graph.instantiate({.plan = without_ends}));
        CHECK(native_edges(graph.native()).size() == nodes - 1);
    }
    SECTION("closed to a cycle") {
        k[0].after(k[nodes - 1]);
        CHECK_THROWS_AS(std::move(b).build(), GraphError);
    }
}

TEST_CASE("without a plan CUDA gets the edges as they were written, also after one", "[plan]") {
    GraphBuilder b;
    const Kernels before = add_kernels(b, 10), after = add_kernels(b, 10);
    const auto join = b.join(before);
    for (const auto& node : after)
        node.after(join, before[0]);
    const Graph graph = std::move(b).build();
    const auto written = [&] {
        const Exec exec = graph.instantiate({.plan = Plan::as_written()});
        CHECK(exec.plan().joins().empty());
        CHECK(exec.plan().kernels() == 0);
        return std::pair(native_nodes(graph.native()).size(), native_edges(graph.native()).size());
    };
    CHECK(written() == std::pair<std::size_t, std::size_t>(21, 30));
    static_cast<void>(graph.instantiate({.plan = without_ends}));
    CHECK(native_edges(graph.native()).size() == (older_than(12080) ? 100 : 20));
    static_cast<void>(graph.instantiate());
    CHECK(written() == std::pair<std::size_t, std::size_t>(21, 30));
}

TEST_CASE("a join of few nodes becomes edges, a join of many an empty kernel, which is no node of the graph",
          "[plan]") {
    if (older_than(12080)) return;
    GraphBuilder b;
    const Kernels few = add_kernels(b, 3), then = add_kernels(b, 3);
    const auto narrow = b.join(few).label("narrow");
    for (const auto& node : then)
        node.after(narrow);
    const Kernels many = add_kernels(b, 9), last = add_kernels(b, 9);
    for (const auto& node : many)
        node.after(then[0]);
    const auto wide = b.join(many).label("wide");
    for (const auto& node : last)
        node.after(wide);
    const Graph graph = std::move(b).build();
    const Exec exec = graph.instantiate();
    CHECK(graph.node_count() == 26);
    CHECK(graph.nodes().size() == 26);
    CHECK(native_nodes(graph.native()).size() == 27);
    const PlanReport plan = exec.plan();
    CHECK(plan.kernels() == 1);
    REQUIRE(plan.joins().size() == 2);
    CHECK(plan.joins()[0].node == narrow);
    CHECK(plan.joins()[0].form == JoinForm::edges);
    CHECK(plan.joins()[0].before == 3);
    CHECK(plan.joins()[1].node == wide);
    CHECK(plan.joins()[1].form == JoinForm::kernel);
    CHECK(plan.joins()[1].after == 9);
    CHECK(plan.edges_after() == 9 + 9 + 18);
}

TEST_CASE("an empty kernel stands between nodes of any kinds, and next to another one", "[plan]") {
    if (older_than(12080)) return;
    const auto cells = device(std::vector<int>(9, 0));
    GraphBuilder b;
    std::vector<Node> fills;
    for (std::size_t i = 0; i < cells.size(); ++i)
        fills.push_back(b.memset(cells.span().subspan(i, 1), 1));
    const auto first = b.join(fills);
    const auto middle = add_kernels(b, 9);
    for (const auto& node : middle)
        node.after(first);
    const auto second = b.join(middle);
    for (const auto& node : add_kernels(b, 9))
        node.after(second);
    Exec exec = std::move(b).build().instantiate({.plan = without_ends});
    CHECK(exec.plan().kernels() == 2);
    run(exec, Stream());
    CHECK(read(cells) == std::vector(9, 1));
}

TEST_CASE("edges from each to each of many nodes lead through an empty kernel", "[plan]") {
    if (older_than(12080)) return;
    GraphBuilder b;
    const Kernels before = add_kernels(b, 12), after = add_kernels(b, 12);
    add_block(before, after);
    const Graph graph = std::move(b).build();
    const Exec exec = graph.instantiate({.plan = without_ends});
    CHECK(native_edges(graph.native()).size() == 24);
    CHECK(graph.edge_count() == 144);
    REQUIRE(exec.plan().joins().size() == 1);
    CHECK(exec.plan().joins()[0].node == Node());
    CHECK(exec.plan().joins()[0].name == "edges from each to each");
}

TEST_CASE("a planned graph gives the results of the edges that were written", "[plan]") {
    for (const bool with_join : {false, true})
        for (const std::size_t width : std::vector<std::size_t>{2, 8, 16}) {
            const Sums sums(width);
            const Graph graph = sums.graph(1, with_join);
            Exec written = graph.instantiate({.plan = Plan::as_written()});
            Exec planned = graph.instantiate();
            const std::vector<std::uint32_t> expected = sums.run_of(written);
            CHECK(std::find(expected.begin(), expected.end(), 0U) == expected.end());
            CHECK(sums.run_of(planned) == expected);
        }
}

TEST_CASE("an exec of a planned graph is updated to graphs that are planned, or not yet", "[plan]") {
    const Sums sums(10);
    for (const bool with_join : {false, true})
        for (const Plan& plan : {Plan(), Plan::as_written()}) {
            Exec exec = sums.graph(1, with_join).instantiate({.plan = plan});
            const Graph next = sums.graph(2, with_join);
            Exec fresh = next.instantiate({.plan = Plan::as_written()});
            const std::vector<std::uint32_t> expected = sums.run_of(fresh);
            CHECK(exec.update(next).updated());
            CHECK(sums.run_of(exec) == expected);
            const Graph planned = sums.graph(3, with_join);
            Exec other = planned.instantiate();
            const std::vector<std::uint32_t> then = sums.run_of(other);
            CHECK(then != expected);
            CHECK(exec.update(planned).updated());
            CHECK(sums.run_of(exec) == then);
            CHECK(exec.options().plan == plan);
        }
}

TEST_CASE("nodes of a planned exec are updated, enabled and applied by their handles", "[plan]") {
    const Sums sums(10);
    Graph graph = sums.graph();
    Exec exec = graph.instantiate();
    const auto nodes = graph.find(mix);
    for (std::size_t i = 0; i < 10; ++i)
        exec.update(nodes[i], cudag::arg<3>(static_cast<std::uint32_t>(2 + i)));
    Exec expected = sums.graph(2).instantiate();
    exec.disable(nodes[19]);
    exec.enable(nodes[19]);
    for (std::size_t i = 10; i < 20; ++i)
        graph.update(nodes[i], cudag::arg<3>(2U));
    CHECK(exec.apply(graph) == 10);
    const std::vector<std::uint32_t> values = sums.run_of(expected);
    CHECK(sums.run_of(exec) == values);
}

TEST_CASE("a captured graph and a built one update each other's planned execs", "[plan]") {
    const Sums sums(10);
    const Stream stream;
    const auto captured = [&](std::uint32_t salt) {
        const std::vector<Stream> branches(10), thens(10); // so that each kernel waits in the order of `write`
        return cudag::capture(stream, [&](cudaStream_t s) {
            cudag::Event begin, meet;
            Inputs all{.count = 10, .cells = {}};
            begin.record(s);
            std::vector<cudag::Event> ends(10), lasts(10);
            for (unsigned i = 0; i < 10; ++i) {
                all.cells[i] = i;
                wait(branches[i], begin);
                cudag::launch(branches[i], {}, mix, sums.cells, i, Inputs{}, salt + i);
                ends[i].record(branches[i]);
            }
            for (unsigned i = 0; i < 10; ++i) {
                for (unsigned k = 0; k < 10; ++k)
                    wait(thens[i], ends[k]);
                cudag::launch(thens[i], {}, mix, sums.cells, 10 + i, all, salt);
                lasts[i].record(thens[i]);
                wait(s, lasts[i]);
            }
        });
    };
    Exec built = sums.graph(1, false).instantiate();
    Exec recorded = captured(1).instantiate();
    Exec expected = sums.graph(2, false).instantiate();
    const std::vector<std::uint32_t> values = sums.run_of(expected);
    CHECK(built.update(captured(2)).updated());
    CHECK(sums.run_of(built) == values);
    CHECK(recorded.update(sums.graph(2, false)).updated());
    CHECK(sums.run_of(recorded) == values);
}

TEST_CASE("a captured graph keeps its edges until somebody asks for them", "[plan]") {
    const Graph unread = captured_line_with_shortcut();
    const Exec exec = unread.instantiate();
    CHECK(exec.plan().edges_after() == exec.plan().edges_before());
    const Graph asked = captured_line_with_shortcut();
    REQUIRE(asked.edge_count() == 3);
    const Exec planned = asked.instantiate();
    CHECK(planned.plan().edges_after() == 2);
    CHECK(native_edges(asked.native()).size() == 2);
}

TEST_CASE("a graph inside a captured one keeps its edges as long as that one does", "[plan]") {
    const Graph inside = line_with_shortcut();
    static_cast<void>(inside.instantiate({.plan = Plan::as_written()}));
    const auto edges_inside = [&](bool asked) {
        const Stream stream;
        cudaGraphNode_t child = nullptr;
        const Graph graph = cudag::capture(stream, [&](cudaStream_t s) { // as a library adds nodes of its own
            cudaStreamCaptureStatus status{};
            cudaGraph_t captured = nullptr;
            const cudaGraphNode_t* front = nullptr;
            std::size_t count = 0;
            cudag::check(get_capture_front(s, &status, &captured, &front, &count));
            child = add_native_child(captured, {front, front + count}, inside.native());
            cudag::check(set_capture_front(s, &child));
        });
        CHECK(graph.nodes().size() == 1);
        if (asked) CHECK(graph.edge_count() == 0);
        static_cast<void>(graph.instantiate());
        return native_edges(native_child(child)).size();
    };
    CHECK(edges_inside(false) == 3);
    CHECK(edges_inside(true) == 2);
}

TEST_CASE("a captured graph of many edges is planned unasked", "[plan]") {
    const std::vector<Stream> streams(2);
    const auto record = [&] {
        return cudag::capture(streams[0], [&](cudaStream_t s) {
            std::vector<cudag::Event> ends(6);
            for (std::size_t i = 0; i < ends.size(); ++i) {
                const Stream& turn = streams[i % 2];
                for (std::size_t k = 0; k < i; ++k)
                    wait(turn, ends[k]);
                cudag::launch(turn, {}, nothing);
                ends[i].record(turn);
            }
            wait(s, ends.back());
        });
    };
    const Graph graph = record();
    Exec exec = graph.instantiate();
    CHECK(native_edges(graph.native()).size() == 5);
    CHECK(exec.plan().edges_before() == 15);
    CHECK(exec.update(record()).updated());
    const Graph as_written = record();
    static_cast<void>(as_written.instantiate({.plan = Plan::as_written()}));
    CHECK(exec.update(as_written).updated());
    CHECK(as_written.instantiate({.plan = Plan::as_written()}).plan().edges_after() == 15);
}

TEST_CASE("an exec of a captured graph with edges of its own is updated from a planned clone", "[plan]") {
    const Stream stream, other;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::Event first, second, third;
        cudag::launch(s, {}, nothing);
        first.record(s);
        wait(other, first);
        cudag::launch(other, {}, nothing);
        second.record(other);
        cudag::launch(s, {}, nothing);
        third.record(s);
        wait(other, third); // so that the last comes after the second, the third, and the first
        wait(other, first);
        cudag::launch(other, {}, nothing);
        second.record(other);
        wait(s, second);
    });
    Exec exec = graph.instantiate();
    const Graph clone = graph.clone();
    const Exec planned = clone.instantiate();
    const auto report = exec.update(clone);
    CHECK(report.updated());
    CHECK(report.reason() == "");
}

TEST_CASE("a captured graph that was moved into another one is planned before its exec is updated", "[plan]") {
    if (older_than(12090)) return;
    const auto around = [] {
        GraphBuilder b;
        b.child(captured_line_with_shortcut());
        return std::move(b).build();
    };
    const Graph graph = around();
    Exec exec = graph.instantiate();
    CHECK(exec.plan().edges_after() == 2);
    CHECK(exec.update(around()).updated());
}

TEST_CASE("clones of planned graphs are planned, and give the same results", "[plan]") {
    const Sums sums(10);
    std::optional<Graph> graph = sums.graph();
    Exec exec = graph->instantiate();
    const std::vector<std::uint32_t> expected = sums.run_of(exec);
    const Graph clone = graph->clone();
    graph.reset();
    for (const Plan& plan : {Plan(), Plan::as_written(), Plan()}) {
        Exec of_clone = clone.instantiate({.plan = plan});
        CHECK(sums.run_of(of_clone) == expected);
        CHECK((of_clone.plan().kernels() != 0) == (plan == Plan() && !older_than(12080)));
    }
}

TEST_CASE("graphs inside child nodes are planned with the graph around them", "[plan]") {
    const Sums sums(10);
    const Graph inner = sums.graph();
    Exec alone = inner.instantiate();
    const std::vector<std::uint32_t> expected = sums.run_of(alone);
    GraphBuilder b;
    const auto child = b.child(inner);
    b.kernel({}, nothing).after(child);
    const Graph graph = std::move(b).build();
    for (const Plan& plan : {Plan(), Plan::as_written(), Plan()}) {
        Exec exec = graph.instantiate({.plan = plan});
        const bool has_kernel = plan == Plan() && !older_than(12080);
        CHECK(exec.plan().kernels() == (has_kernel ? 1U : 0U));
        if (has_kernel) {
            REQUIRE(exec.plan().joins().size() == 1);
            CHECK_THAT(exec.plan().joins()[0].name, ContainsSubstring("\"meet\"") && ContainsSubstring("child"));
        }
        exec.update(child, sums.graph());
        CHECK(sums.run_of(exec) == expected);
    }
}

TEST_CASE("a moved child is planned, and so is a body", "[plan]") {
    if (older_than(12090)) return;
    const Sums sums(10);
    Exec alone = sums.graph().instantiate();
    const std::vector<std::uint32_t> expected = sums.run_of(alone);
    SECTION("moved") {
        GraphBuilder b;
        b.child(sums.graph());
        Exec exec = std::move(b).build().instantiate();
        CHECK(sums.run_of(exec) == expected);
        CHECK(exec.plan().kernels() == 1);
    }
    SECTION("body") {
        GraphBuilder b;
        b.if_(b.condition(1), [&](GraphBuilder& body) { sums.write(body); });
        Exec exec = std::move(b).build().instantiate();
        CHECK(sums.run_of(exec) == expected);
        CHECK(exec.plan().kernels() == 1);
    }
}

TEST_CASE("a graph that begins and ends with many kernels gets an empty one before and after them", "[plan]") {
    if (!has_planned_ends()) return;
    const Graph graph = lines_of_two(10);
    Exec exec = graph.instantiate();
    CHECK(exec.plan().kernels() == 2);
    CHECK(graph.node_count() == 20);
    CHECK(native_nodes(graph.native()).size() == 22);
    CHECK(native_edges(graph.native()).size() == 30);
    CHECK_THAT(to_string(exec.plan()), ContainsSubstring("the beginning: 0 nodes before 10: kernel") &&
                                           ContainsSubstring("the end: 10 nodes before 0: kernel"));
    run(exec, Stream());
    CHECK(graph.instantiate({.plan = {.ends = false}}).plan().kernels() == 0);
    CHECK(native_nodes(graph.native()).size() == 20);
}

TEST_CASE("eight kernels at an end of a graph are many enough for an empty one, seven are not", "[plan]") {
    if (!has_planned_ends()) return;
    CHECK(lines_of_two(8).instantiate().plan().kernels() == 2);
    CHECK(lines_of_two(7).instantiate().plan().kernels() == 0);
    for (const std::size_t count : {7U, 8U}) { // at one end, from one node or to it
        GraphBuilder b;
        const auto first = b.kernel({}, nothing);
        for (const auto& node : add_kernels(b, count))
            node.after(first);
        CHECK(std::move(b).build().instantiate().plan().kernels() == (count == 8 ? 1U : 0U));
    }
}

TEST_CASE("empty kernels of a plan stand next to each other, also after nodes were removed", "[plan]") {
    if (older_than(12080)) return;
    GraphBuilder b;
    const auto hosts = [&] { // no kernels, next to which the plan's would be
        std::vector<cudag::HostNode> nodes;
        for (int i = 0; i < 9; ++i)
            nodes.push_back(b.host([] {}));
        return nodes;
    };
    const auto first = b.join(hosts());
    for (const auto& node : hosts())
        node.after(first);
    const auto second = b.join(hosts()).after(first);
    for (const auto& node : hosts())
        node.after(second);
    b.remove(add_kernels(b, 1).front());
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate({.plan = without_ends});
    CHECK(exec.plan().kernels() == 2);
    run(exec, Stream());
}

TEST_CASE("a graph inside a child node has no empty kernels at its ends, and its updates bring none", "[plan]") {
    if (older_than(12080)) return;
    const Sums sums(10);
    const Graph inner = sums.graph();
    Exec alone = inner.instantiate(); // planned with ends
    const std::vector<std::uint32_t> expected = sums.run_of(alone);
    GraphBuilder b;
    const auto child = b.child(inner);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK(exec.plan().kernels() == 1);
    const Graph next = sums.graph();
    static_cast<void>(next.instantiate());
    exec.update(child, next);
    CHECK(sums.run_of(exec) == expected);
    CHECK(exec.update(graph).updated());
    CHECK(sums.run_of(exec) == expected);
}

TEST_CASE("a graph that is laid on lanes gives the same results, and its execs are updated", "[plan][lanes]") {
    const Sums sums(10);
    Exec written = sums.graph().instantiate({.plan = Plan::as_written()});
    const std::vector<std::uint32_t> expected = sums.run_of(written);
    const Graph graph = sums.graph(2);
    Exec other = graph.instantiate({.plan = Plan::as_written()});
    const std::vector<std::uint32_t> then = sums.run_of(other);
    for (const unsigned lanes : {1U, 2U, 3U, 7U, 10U, 100U}) {
        const Graph first = sums.graph();
        Exec exec = first.instantiate({.plan = {.lanes = lanes}});
        CHECK(exec.plan().lanes() == (lanes < 10 ? lanes : 0U));
        CHECK(first.edge_count() == 20);
        CHECK(sums.run_of(exec) == expected);
        CHECK(exec.update(graph).updated());
        CHECK(sums.run_of(exec) == then);
        const auto last = first.find(mix).back();
        exec.update(last, cudag::arg<3>(7U));
        CHECK(exec.update(first).updated());
        CHECK(sums.run_of(exec) == expected);
    }
}

TEST_CASE("a captured graph that followed other plans updates execs of one that did not", "[plan]") {
    const auto cells = device({0, 0, 0});
    const auto captured = [&](int value) {
        const Stream stream, other, left, right;
        return cudag::capture(stream, [&](cudaStream_t s) {
            record_line_with_shortcut(s, other);
            cudag::Event forked, left_end, right_end;
            forked.record(s);
            wait(left, forked);
            wait(right, forked);
            cudag::launch(left, {}, store, cells.data(), value);
            cudag::launch(right, {}, store, cells.data() + 1, value + 1);
            cudag::launch(right, {}, store, cells.data() + 2, value + 2);
            left_end.record(left);
            right_end.record(right);
            wait(s, right_end); // the other way round than they were recorded
            wait(s, left_end);
        });
    };
    const Graph graph = captured(10);
    const Plan plans[] = {Plan(), Plan::as_written(), {.lanes = 1}, {.lanes = 2}};
    for (const Plan& plan : plans)
        static_cast<void>(graph.instantiate({.plan = plan}));
    const Stream stream;
    for (const Plan& plan : plans) {
        const Graph fresh = captured(20);
        Exec exec = fresh.instantiate({.plan = plan});
        CHECK(exec.update(graph).updated());
        exec.update(fresh.find(store)[0], cudag::arg<1>(30));
        run(exec, stream);
        CHECK(read(cells) == std::vector{30, 11, 12});
    }
}

TEST_CASE("one lane is a line in CUDA's graph", "[plan][lanes]") {
    const Sums sums(4);
    const Graph graph = sums.graph(1, false);
    const Exec exec = graph.instantiate({.plan = {.lanes = 1}});
    CHECK(native_edges(graph.native()).size() == 7);
    CHECK(graph.edge_count() == 16);
    CHECK_THAT(to_string(exec.plan()), ContainsSubstring("1 lane"));
}

TEST_CASE("graphs are laid on lanes that fork, meet, or do neither, and lines are not", "[plan][lanes]") {
    const auto lanes_of = [](const auto& add_edges) {
        GraphBuilder b;
        add_edges(add_kernels(b, 4));
        return std::move(b).build().instantiate({.plan = {.ends = false, .lanes = 1}}).plan().lanes();
    };
    CHECK(lanes_of([](const Kernels& k) {
              for (const std::size_t i : {1U, 2U, 3U})
                  k[i].after(k[0]);
          }) == 1);
    CHECK(lanes_of([](const Kernels& k) { k[3].after(k[0], k[1], k[2]); }) == 1);
    CHECK(lanes_of([](const Kernels& k) {
              k[1].after(k[0]);
              k[2].after(k[0]);
              k[3].after(k[1], k[2]);
          }) == 1);
    CHECK(lanes_of([](const Kernels&) {}) == 1);
    CHECK(lanes_of([](const Kernels& k) {
              for (const std::size_t i : {1U, 2U, 3U})
                  k[i].after(k[i - 1]);
          }) == 0);
}

TEST_CASE("durations lay a graph on as many lanes as are allowed, or on none if it gains nothing", "[plan][lanes]") {
    GraphBuilder b;
    add_kernels(b, 40);
    const Graph graph = std::move(b).build();
    const auto lanes_for = [&](unsigned most, double duration) {
        const Plan plan{.lanes = most, .durations = std::vector<double>(40, duration)};
        return graph.instantiate({.plan = plan}).plan().lanes();
    };
    CHECK(lanes_for(4, 100) == 4);
    CHECK(lanes_for(0, 100) == 0);
    CHECK(lanes_for(40, 100) == 0);
}

TEST_CASE("durations that do not fit the graph are refused", "[plan][lanes]") {
    GraphBuilder b;
    b.kernel({}, nothing).label("a");
    b.kernel({}, nothing).label("b");
    const Graph graph = std::move(b).build();
    const auto with = [&](std::vector<double> durations) {
        return graph.instantiate({.plan = {.durations = std::move(durations)}});
    };
    CHECK_THROWS_MATCHES(with({1}), cudag::InstantiateError,
                         MessageMatches(ContainsSubstring("1 durations for 2 nodes")));
    CHECK_THROWS_MATCHES(with({1, 2, 3}), cudag::InstantiateError,
                         MessageMatches(ContainsSubstring("3 durations for 2 nodes")));
    for (const double wrong : {-1.0, std::nan(""), HUGE_VAL})
        CHECK_THROWS_MATCHES(with({1, wrong}), cudag::InstantiateError,
                             MessageMatches(ContainsSubstring("\"b\"") && ContainsSubstring("not negative")));
    CHECK_NOTHROW(with({0, 1}));
}

TEST_CASE("a captured graph is laid on lanes, also if nobody has asked anything of it", "[plan][lanes]") {
    const Stream stream;
    const std::vector<Stream> others(4);
    const auto record = [&] {
        return cudag::capture(stream, [&](cudaStream_t s) {
            cudag::Event begin;
            begin.record(s);
            std::vector<cudag::Event> ends(4);
            for (std::size_t i = 0; i < 4; ++i) {
                wait(others[i], begin);
                cudag::launch(others[i], {}, nothing);
                ends[i].record(others[i]);
                wait(s, ends[i]);
            }
        });
    };
    const Graph graph = record();
    Exec exec = graph.instantiate({.plan = {.lanes = 2}});
    CHECK(exec.plan().lanes() == 2);
    CHECK(native_edges(graph.native()).size() == 2);
    CHECK(exec.update(record()).updated());
    run(exec, stream);
}

TEST_CASE("event nodes have no lane", "[plan][lanes]") {
    cudag::Event event;
    event.record(Stream());
    GraphBuilder b;
    const auto waits = b.wait(event);
    add_kernels(b, 2);
    const Graph graph = std::move(b).build();
    const Exec exec = graph.instantiate({.plan = {.lanes = 1}});
    CHECK(exec.plan().lanes() == 1);
    const NativeEdges edges = native_edges(graph.native());
    REQUIRE(edges.size() == 1);
    CHECK(edges.begin()->first != waits.native());
}

TEST_CASE("joins have no lane", "[plan][lanes]") {
    GraphBuilder b;
    const Kernels kernels = add_kernels(b, 2);
    const std::vector<Node> joins{b.join(kernels[0]), b.join(kernels[1])};
    const Graph graph = std::move(b).build();
    const Exec exec = graph.instantiate({.plan = {.joins = false, .lanes = 1}});
    CHECK(exec.plan().lanes() == 1);
    const NativeEdges edges = native_edges(graph.native());
    CHECK(edges.size() == 3);
    for (const auto& [from, to] : edges)
        CHECK((from != joins[0].native() && from != joins[1].native()));
}

TEST_CASE("long lines give the same results and update each other, built and captured ones", "[plan]") {
    if (!has_planned_ends()) return;
    constexpr int length = 300;
    const cudag::DeviceBuffer<int> cell(1);
    const Stream stream;
    const auto built = [&](int value) {
        GraphBuilder b;
        std::optional<Node> last;
        for (int i = 0; i < length; ++i) {
            const auto kernel = b.kernel({}, store, cell.data(), value + i);
            if (last) kernel.after(*last);
            last = kernel;
        }
        return std::move(b).build();
    };
    const auto captured = [&](int value) {
        return cudag::capture(stream, [&](cudaStream_t s) {
            for (int i = 0; i < length; ++i)
                cudag::launch(s, {}, store, cell.data(), value + i);
        });
    };
    const auto stored_by = [&](Exec& exec) {
        run(exec, stream);
        return read(cell).front();
    };
    Exec exec = built(1000).instantiate(), recorded = captured(2000).instantiate();
    CHECK(exec.plan().edges_before() == length - 1);
    CHECK(exec.plan().edges_after() == length);
    REQUIRE(exec.plan().joins().size() == 1);
    CHECK(to_string(exec.plan().joins()[0]) ==
          "the ends: 1 nodes before 1: edges, an edge from the first node of a long line to the last makes the launch "
          "call quicker");
    CHECK(stored_by(exec) == 1000 + length - 1);
    CHECK(exec.update(captured(3000)).updated());
    CHECK(stored_by(exec) == 3000 + length - 1);
    CHECK(exec.update(built(4000)).updated());
    CHECK(stored_by(exec) == 4000 + length - 1);
    CHECK(recorded.update(built(5000)).updated());
    CHECK(stored_by(recorded) == 5000 + length - 1);
    CHECK(recorded.update(captured(6000)).updated());
    CHECK(stored_by(recorded) == 6000 + length - 1);
}

TEST_CASE("graphs inside child nodes are laid on lanes too, but not by durations", "[plan][lanes]") {
    const auto around = [] {
        GraphBuilder inner;
        add_kernels(inner, 3);
        GraphBuilder b;
        add_child(b, std::move(inner).build());
        add_kernels(b, 2);
        return std::move(b).build();
    };
    const Graph graph = around();
    const Exec laid = graph.instantiate({.plan = {.lanes = 1}});
    CHECK(laid.plan().edges_after() == 2 + 2);
    const Graph timed = around();
    const Exec exec = timed.instantiate({.plan = {.lanes = 1, .durations = {1, 1, 1}}});
    CHECK(exec.plan().edges_after() == 2);
}

TEST_CASE("a plan says what it has done", "[plan]") {
    if (older_than(12080)) return;
    const Sums sums(10);
    const Graph graph = sums.graph();
    CHECK_THAT(to_string(graph.instantiate({.plan = without_ends}).plan()),
               ContainsSubstring("20 edges became 20, with 1 empty kernel") && ContainsSubstring("\"meet\"") &&
                   ContainsSubstring("10 nodes before 10: kernel"));
    CHECK_THAT(to_string(graph.instantiate({.plan = Plan::as_written()}).plan()),
               StartsWith("20 edges, as they were written\n"));
}
