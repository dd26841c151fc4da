// relax: what a captured line becomes, what stays where it is, and what is refused.
#include "cuda_version.hpp"
#include "test.hpp"

#include <cudag/format.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::relax;
using cudag::RelaxReport;
using cudag::StayReason;
using cudag::StreamCapture;

namespace {

std::vector<std::string> edges_of(const Graph& graph) {
    std::vector<std::string> edges;
    for (const auto& edge : graph.edges())
        edges.push_back(std::string(edge.from.label()) + " -> " + std::string(edge.to.label()));
    std::ranges::sort(edges);
    return edges;
}

std::vector<StayReason> reasons_of(const RelaxReport& report) {
    std::vector<StayReason> reasons;
    for (const cudag::StayingNode& staying : report.staying)
        reasons.push_back(staying.reason);
    return reasons;
}

/// A captured line of named steps.
template <class Steps>
Graph line_of(const Steps& steps) {
    const cudag::Stream stream;
    return cudag::capture(stream, [&](StreamCapture& c) { steps(c, c.stream()); });
}

using Edges = std::vector<std::string>;
using Reasons = std::vector<StayReason>;

} // namespace

TEST_CASE("a captured line becomes the order that its nodes need", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    std::vector<int> down(1);
    Graph graph = line_of([&](StreamCapture& c, cudaStream_t s) {
        c.step("x", [&] { cudag::launch(s, {}, store, x, 3); });
        c.step("y", [&] { cudag::memset_async(s, y, 0); });
        c.step("z", [&] { cudag::launch(s, {}, add, z, x, 4); });
        c.step("y from x", [&] { cudag::launch(s, {}, add, y, x, 1); });
        c.step("down", [&] { cudag::memcpy_async(s, down, z); });
    });
    const RelaxReport report = relax(graph);
    CHECK(edges_of(graph) == Edges{"x -> y from x", "x -> z", "y -> y from x", "z -> down"});
    CHECK(report.staying.empty());
    CHECK(report.edges_before == 4);
    CHECK(report.edges_after == 4);
    CHECK(report.longest_path_before == 5);
    CHECK(report.longest_path_after == 3);
    CHECK(fmt::format("{}", report) == "4 edges became 4; the longest path has 3 nodes, before it had 5");
    CHECK(graph.races().empty());
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    for (int i = 0; i < 8; ++i) {
        write(z.span(), {0});
        run(exec, stream);
        CHECK(down[0] == 7);
        CHECK(read(y)[0] == 4);
    }
}

TEST_CASE("CUDA's edges are those of the relaxed graph, also if it had others before", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    const auto steps = [&](StreamCapture& c, cudaStream_t s) {
        c.step("x", [&] { cudag::launch(s, {}, store, x, 3); });
        c.step("y", [&] { cudag::launch(s, {}, store, y, 4); });
    };
    const auto count = [](cudaGraph_t graph) {
        std::size_t roots = 0;
        cudag::check(cudaGraphGetRootNodes(graph, nullptr, &roots));
        return roots;
    };
    Graph graph = line_of(steps);
    CHECK(count(graph.native()) == 1);
    static_cast<void>(graph.instantiate());
    CHECK(relax(graph).edges_after == 0);
    CHECK(count(graph.native()) == 2);
    CHECK(relax(graph).edges_before == 0); // a second time changes nothing
    CHECK(count(graph.clone().native()) == 2);
}

TEST_CASE("an exec of a relaxed graph is updated by another one", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    const auto made = [&](int value) {
        Graph graph = line_of([&](StreamCapture& c, cudaStream_t s) {
            c.step("x", [&] { cudag::launch(s, {}, store, x, value); });
            c.step("clear", [&] { cudag::memset_async(s, y, 0); });
            c.step("y", [&] { cudag::launch(s, {}, add, y, x, value); });
        });
        relax(graph);
        return graph;
    };
    const Graph first = made(1), second = made(20);
    cudag::Exec exec = first.instantiate();
    CHECK(exec.update(second).updated());
    run(exec, cudag::Stream());
    CHECK(read(y)[0] == 40);
}

TEST_CASE("a kernel with a raw pointer stays where it is", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    Graph graph = line_of([&](StreamCapture& c, cudaStream_t s) {
        c.step("a", [&] { cudag::launch(s, {}, store, x, 1); });
        c.step("b", [&] { cudag::launch(s, {}, store, y, 1); });
        c.step("raw", [&] { cudag::launch(s, {}, add, z, x.data(), 1); });
        c.step("c", [&] { cudag::launch(s, {}, store, y, 1); });
        c.step("d", [&] { cudag::launch(s, {}, store, x, 1); });
    });
    const RelaxReport report = relax(graph);
    CHECK(edges_of(graph) == Edges{"a -> raw", "b -> raw", "raw -> c", "raw -> d"});
    REQUIRE(report.staying.size() == 1);
    CHECK(report.staying[0].node.label() == "raw");
    CHECK(report.staying[0].inside == report.staying[0].node);
    CHECK(report.staying[0].reason == StayReason::untracked);
    CHECK(report.staying[0].argument == 1);
    CHECK_THAT(to_string(report),
               ContainsSubstring("; 1 nodes stay where they are:\n  kernel \"raw\" (add) at ") &&
                   ContainsSubstring(": argument 1 may be an address, and the size of its memory is unknown"));
}

TEST_CASE("kernels that cudag has not launched stay unless it is said what they do", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    const auto steps = [&](StreamCapture& c, cudaStream_t s) {
        c.step("x", [&] { cudag::launch(s, {}, store, x, 1); });
        c.step("library", [&] {
            int* cell = y.data();
            int value = 2;
            void* arguments[] = {&cell, &value};
            cudag::check(cudaLaunchKernel(cudag::detail::kernel_symbol(store), dim3(1), dim3(1), arguments, 0, s));
        });
        c.step("y", [&] { cudag::launch(s, {}, add, x, y, 1); });
        c.step("other", [&] { cudag::launch(s, {}, nothing); });
    };
    Graph graph = line_of(steps);
    CHECK(reasons_of(relax(graph)) == Reasons{StayReason::untracked, StayReason::undeclared});
    CHECK(edges_of(graph) == Edges{"library -> y", "x -> library", "y -> other"});

    Graph told = line_of(steps);
    told.find_one("library").writes(y);
    told.find_one("other").reads(y);
    CHECK(relax(told).staying.empty());
    CHECK(edges_of(told) == Edges{"library -> other", "library -> y", "x -> y"});
}

TEST_CASE("host functions, events and objects that may hold pointers stay", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    cudag::Event event({.timing = false});
    const auto made = [&] {
        GraphBuilder b;
        const auto first = b.kernel({}, store, x, 1).label("first");
        const auto host = b.host([] {}).label("host").after(first);
        const auto record = b.record(event).label("record").after(host);
        const auto object = b.kernel({}, add_to, ToAndFrom{y.data(), x.data()}, 1).label("object").after(record);
        b.kernel({}, write_address, DeviceBuffer<std::uint64_t>(1), nullptr).label("null").after(object);
        return std::move(b).build();
    };
    Graph graph = made();
    const RelaxReport report = relax(graph);
    CHECK(reasons_of(report) == Reasons{StayReason::undeclared, StayReason::outside, StayReason::untracked});
    CHECK(report.edges_after == report.edges_before);
    Graph told = made();
    told.find_one("host").reads(y);
    CHECK(reasons_of(relax(told)) == Reasons{StayReason::outside, StayReason::untracked});
    CHECK(edges_of(told) == Edges{"first -> record", "host -> record", "object -> null", "record -> object"});
}

TEST_CASE("an object that is not laid out as one with pointers has none", "[graph][relax]") {
    const DeviceBuffer<std::uint32_t> cells(4);
    Graph graph = line_of([&](StreamCapture& c, cudaStream_t s) {
        c.step("first", [&] { cudag::launch(s, {}, mix, cells.span().subspan(0, 1), 0U, Inputs{2, {0, 0}}, 1U); });
        c.step("second", [&] { cudag::launch(s, {}, mix, cells.span().subspan(1, 1), 0U, Inputs{1, {0}}, 2U); });
    });
    const RelaxReport report = relax(graph);
    CHECK(report.staying.empty());
    CHECK(report.edges_after == 0);
}

TEST_CASE("streams that forked and joined stay as far apart as they were, or further", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    const cudag::Stream fork;
    Graph graph = line_of([&](StreamCapture& c, cudaStream_t s) {
        c.step("x", [&] { cudag::launch(s, {}, store, x, 1); });
        c.fork(fork);
        c.step("y", [&] { cudag::launch(fork, {}, store, y, 2); });
        c.step("raw", [&] { cudag::launch(fork, {}, store, y.data(), 3); });
        c.step("x again", [&] { cudag::launch(s, {}, add, x, x, 1); });
        c.join(fork);
        c.step("both", [&] { cudag::launch(s, {}, add, z, y, 1); });
        c.step("last", [&] { cudag::launch(s, {}, store, x, 1); });
    });
    CHECK(reasons_of(relax(graph)) == Reasons{StayReason::untracked});
    CHECK(edges_of(graph) ==
          Edges{"raw -> both", "raw -> last", "x -> raw", "x -> x again", "x again -> last", "y -> raw"});
}

TEST_CASE("a region that a builder has captured is relaxed with the graph", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream;
    GraphBuilder b;
    const auto before = b.memset(y, 0).label("before");
    const auto region = b.capture(stream, [&](StreamCapture& c) {
        c.step("x", [&] { cudag::launch(stream, {}, store, x, 1); });
        c.step("y", [&] { cudag::launch(stream, {}, store, y.data(), 1); });
    });
    region.after(before).writes(y);
    Graph graph = std::move(b).build();
    CHECK(relax(graph).staying.empty());
    CHECK(edges_of(graph) == Edges{"before -> y"});
}

TEST_CASE("conditionals stay, and kernels that set conditions; bodies are relaxed", "[graph][relax]") {
    if (older_than(12080)) return; // set() needs it
    const DeviceBuffer<int> x(1), y(1);
    GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    const auto before = b.kernel({}, store, x, 1);
    const auto flag = device<unsigned>({1});
    const auto setter = b.set(condition, flag).after(before);
    const auto branch = b.if_(condition, [&](GraphBuilder& body) {
                             const auto a = body.kernel({}, store, x, 5).label("a");
                             const auto clear = body.memset(y, 0).label("clear").after(a);
                             body.kernel({}, add, y, x, 1).label("add").after(clear);
                         }).after(setter);
    b.kernel({}, store, x, 9).after(branch);
    Graph graph = std::move(b).build();
    const RelaxReport report = relax(graph);
    CHECK(reasons_of(report) == Reasons{StayReason::condition, StayReason::condition});
    CHECK(report.edges_before == 5);
    CHECK(report.edges_after == 5);
    CHECK(report.longest_path_after == 4);
    CHECK(edges_of(branch.body()) == Edges{"a -> add", "clear -> add"});
    run(*std::make_unique<cudag::Exec>(graph.instantiate()), cudag::Stream());
    CHECK(read(y)[0] == 6);
    CHECK(read(x)[0] == 9);
}

TEST_CASE("a child moves as one node if all of it is known, and is relaxed inside", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    const auto child_of = [&](bool raw) {
        GraphBuilder b;
        const auto first = b.kernel({}, store, x, 1).label("first");
        if (raw)
            b.kernel({}, store, y.data(), 2).label("second").after(first);
        else
            b.kernel({}, store, y, 2).label("second").after(first);
        return std::move(b).build();
    };
    for (const bool raw : {false, true}) {
        GraphBuilder b;
        const auto before = b.kernel({}, store, z, 1).label("before");
        const Graph inner = child_of(raw);
        const auto child = b.child(inner).label("child").after(before);
        b.kernel({}, add, z, x, 1).label("after").after(child);
        Graph graph = std::move(b).build();
        const RelaxReport report = relax(graph);
        if (raw) {
            CHECK(edges_of(graph) == Edges{"before -> child", "child -> after"});
            REQUIRE(reasons_of(report) == Reasons{StayReason::untracked, StayReason::untracked}); // itself, and inside
            CHECK(report.staying[0].node.label() == "child");
            CHECK(report.staying[0].inside.label() == "second");
            CHECK_THAT(to_string(report.staying[0]), ContainsSubstring("child \"child\" at ") &&
                                                         ContainsSubstring(": kernel \"second\" inside ") &&
                                                         ContainsSubstring(": argument 0 may be"));
        } else {
            CHECK(edges_of(graph) == Edges{"before -> after", "child -> after"});
            CHECK(report.staying.empty());
            CHECK(report.edges_before == 3);
            CHECK(report.edges_after == 2);
        }
        run(*std::make_unique<cudag::Exec>(graph.instantiate()), cudag::Stream());
        CHECK(read(z)[0] == 2);
        CHECK(read(y)[0] == 2);
    }
}

TEST_CASE("joins order nothing, unless a node beside one stays", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    const auto made = [&](bool raw) {
        GraphBuilder b;
        const auto a = b.kernel({}, store, x, 1).label("a");
        const auto c = b.kernel({}, store, y, 1).label("b");
        const auto join = b.join(a, c).label("join");
        b.kernel({}, store, x, 1).label("c").after(join);
        if (raw)
            b.kernel({}, store, y.data(), 1).label("d").after(join);
        else
            b.kernel({}, store, y, 1).label("d").after(join);
        return std::move(b).build();
    };
    Graph graph = made(false);
    CHECK(relax(graph).staying.empty());
    CHECK(edges_of(graph) == Edges{"a -> c", "b -> d"});
    Graph raw = made(true);
    CHECK(reasons_of(relax(raw)) == Reasons{StayReason::untracked, StayReason::join});
    CHECK(edges_of(raw) == Edges{"a -> join", "b -> join", "join -> c", "join -> d"});
}

TEST_CASE("a join after a node that stays does so, too, and no node after it", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    GraphBuilder b;
    const auto raw = b.kernel({}, store, x.data(), 1).label("raw");
    const auto a = b.kernel({}, store, y, 1).label("a").after(raw);
    const auto join = b.join(raw, a).label("join");
    b.kernel({}, store, y, 1).label("b").after(join);
    Graph graph = std::move(b).build();
    const RelaxReport report = relax(graph);
    CHECK(reasons_of(report) == Reasons{StayReason::untracked, StayReason::join});
    CHECK(report.staying.back().node == graph.find_one("join"));
}

TEST_CASE("programmatic edges stay, and their kernels with them", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    GraphBuilder b;
    const auto a = b.kernel({}, store, x, 1).label("a");
    const auto c = b.kernel({}, store, y, 1).label("b").after(cudag::programmatic(a));
    b.kernel({}, store, z, 1).label("c").after(c);
    Graph graph = std::move(b).build();
    CHECK(reasons_of(relax(graph)) == Reasons{StayReason::early_edge, StayReason::early_edge});
    REQUIRE(graph.edge_count() == 2);
    CHECK(graph.edges()[0].kind == cudag::EdgeKind::programmatic);
    CHECK(edges_of(graph) == Edges{"a -> b", "b -> c"});
}

TEST_CASE("what cannot be relaxed is refused, and stays as it is", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    const auto line = [&] {
        GraphBuilder b;
        const auto first = b.kernel({}, store, x, 1).label("first");
        b.kernel({}, store, y, 1).label("second").after(first);
        return std::move(b).build();
    };
    SECTION("races") {
        GraphBuilder b({.races = cudag::Races::allowed});
        b.kernel({}, store, x, 1).label("one");
        b.kernel({}, store, x, 2).label("two");
        Graph graph = std::move(b).build();
        const auto error = refused<cudag::RaceError>([&] { relax(graph); });
        CHECK_THAT(error.what(), StartsWith("cudag: relax: nothing orders kernel \"one\" at "));
        GraphBuilder around;
        const auto child = around.child(graph);
        around.kernel({}, store, y, 1).after(child);
        Graph outer = std::move(around).build();
        static_cast<void>(refused<cudag::RaceError>([&] { relax(outer); }));
        CHECK(outer.edge_count() == 1);
    }
    SECTION("memory nodes") {
        GraphBuilder b;
        const auto memory = b.alloc<int>(1).label("memory");
        b.free(memory).after(b.kernel({}, store, memory.span(), 1).after(memory));
        Graph graph = std::move(b).build();
        const auto error = refused<cudag::GraphError>([&] { relax(graph); });
        CHECK_THAT(error.what(), StartsWith("cudag: relax: alloc \"memory\" at ") &&
                                     EndsWith("CUDA removes no edges of a graph with memory nodes: allocate before the "
                                              "graph"));
        CHECK(graph.edge_count() == 2);
    }
    SECTION("an exec") {
        Graph graph = line();
        {
            const cudag::Exec exec = graph.instantiate();
            const auto error = refused<cudag::GraphError>([&] { relax(graph); });
            CHECK_THAT(error.what(), StartsWith("cudag: relax: an Exec of the graph is alive"));
        }
        CHECK(graph.edge_count() == 1);
        CHECK(relax(graph).edges_after == 0);
    }
    SECTION("a view, a graph inside another one, and none") {
        Graph graph = line();
        Graph view = Graph::view(graph.native());
        CHECK_THAT(refused<cudag::GraphError>([&] { relax(view); }).what(),
                   EndsWith("the graph is a view, which does not own its edges; relax a clone"));
        Graph clone = view.clone();
        CHECK_NOTHROW(relax(clone));
        GraphBuilder b;
        const auto child = b.child(graph);
        const Graph outer = std::move(b).build();
        Graph inner = child.graph();
        CHECK_THAT(refused<cudag::GraphError>([&] { relax(inner); }).what(), ContainsSubstring("is inside"));
        const Graph moved = std::move(graph);
        CHECK_THAT(refused<cudag::GraphError>([&] { relax(graph); }).what(), ContainsSubstring("moved-from"));
        CHECK(moved.edge_count() == 1);
    }
}

namespace {

/// A program of one stream over some cells: every kind of work, in plain C++, too.
class RandomLine {
  public:
    explicit RandomLine(unsigned seed) : random_(seed), expected_(cells) {
        write(memory_.span(), std::vector<int>(cells));
        graph_.emplace(line_of([&](StreamCapture&, cudaStream_t s) {
            for (int i = 0; i < 24; ++i)
                add_work(s);
        }));
    }

    [[nodiscard]] Graph& graph() { return *graph_; }
    [[nodiscard]] bool runs_right(cudag::Exec& exec, const cudag::Stream& stream) {
        write(memory_.span(), std::vector<int>(cells));
        run(exec, stream);
        return read(memory_) == expected_;
    }

  private:
    static constexpr std::size_t cells = 8;

    std::size_t below(std::size_t end) { return random_() % end; }
    [[nodiscard]] cudag::DeviceSpan<int> cell(std::size_t i) const { return memory_.span().subspan(i, 1); }

    void add_work(cudaStream_t s) {
        const std::size_t to = below(cells), from = below(cells);
        const int value = static_cast<int>(below(100));
        switch (below(6)) {
        case 0:
            cudag::launch(s, {}, store, cell(to), value);
            expected_[to] = value;
            break;
        case 1:
            cudag::memset_async(s, cell(to), value);
            expected_[to] = value;
            break;
        case 2:
            if (to == from) break;
            cudag::memcpy_async(s, cell(to), cell(from));
            expected_[to] = expected_[from];
            break;
        case 3:
            if (below(3) != 0) break;
            cudag::launch(s, {}, add, cell(to), static_cast<const int*>(cell(from).data()), value);
            expected_[to] = expected_[from] + value;
            break;
        default:
            cudag::launch(s, {}, add, cell(to), cell(from), value);
            expected_[to] = expected_[from] + value;
        }
    }

    std::mt19937 random_;
    DeviceBuffer<int> memory_{cells};
    std::vector<int> expected_;
    std::optional<Graph> graph_;
};

} // namespace

TEST_CASE("random captured lines do the same when they are relaxed", "[graph][relax]") {
    const cudag::Stream stream;
    std::size_t shorter = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        RandomLine line(seed);
        const RelaxReport report = relax(line.graph());
        CHECK(line.graph().races().empty());
        shorter += report.longest_path_after < report.longest_path_before ? 1 : 0;
        cudag::Exec exec = line.graph().instantiate();
        for (int i = 0; i < 6; ++i)
            CHECK(line.runs_right(exec, stream));
    }
    CHECK(shorter > 30);
}

TEST_CASE("updates of a relaxed graph are looked at in the order that it has now", "[graph][relax][races]") {
    const DeviceBuffer<int> left(1), right(1), other(1);
    cudag::GraphBuilder b;
    const auto first = b.kernel({}, store, left, 1);
    const auto second = b.kernel({}, store, right, 2).after(first);
    Graph graph = std::move(b).build();
    graph.update(second, left, 2); // after the first
    graph.update(second, other, 2);
    relax(graph);
    CHECK(graph.edges().empty());
    CHECK_THAT(refused<cudag::RaceError>([&] { graph.update(second, left, 2); }).what(),
               ContainsSubstring("it would make a race"));
}

TEST_CASE("relax keeps an edge that a driven size may need later", "[graph][relax][dynamic]") {
    const DeviceBuffer<int> from(100), middle(100), to(100);
    cudag::DynamicParam<int> n(10);
    GraphBuilder b;
    const auto copy = b.memcpy(middle, from).label("copy");
    n.drive(copy);
    b.memcpy(to.span().subspan(50, 50), middle.span().subspan(50, 50)).label("read").after(copy);
    Graph graph = std::move(b).build();
    CHECK(relax(graph).staying.empty());
    CHECK(edges_of(graph) == Edges{"copy -> read"});
    cudag::Exec exec = graph.instantiate();
    CHECK(n.set(100, exec) == 1);
}

TEST_CASE("what is driven stays if its largest size would race", "[graph][relax][dynamic]") {
    const DeviceBuffer<int> from(100), middle(100), to(100);
    cudag::DynamicParam<int> n(10);
    GraphBuilder b;
    const auto copy = b.memcpy(middle, from).label("copy");
    n.drive(copy);
    const auto beside = b.memset(middle.span().subspan(90, 10), 1).label("beside"); // no race up to 90
    b.memcpy(to.span().subspan(50, 50), middle.span().subspan(50, 50)).label("read").after(copy, beside);
    Graph graph = std::move(b).build();
    const RelaxReport report = relax(graph);
    CHECK(reasons_of(report) == Reasons{StayReason::driven});
    CHECK_THAT(to_string(report.staying.at(0)), ContainsSubstring("a DynamicParam drives its size"));
    CHECK(edges_of(graph) == Edges{"beside -> read", "copy -> read"});
    cudag::Exec exec = graph.instantiate();
    CHECK(n.set(90, exec) == 1);
}

TEST_CASE("relax keeps an edge between nodes beside one whose largest size would race", "[graph][relax][dynamic]") {
    const DeviceBuffer<int> from(100), middle(100);
    cudag::DynamicParam<int> n(10);
    GraphBuilder b;
    const auto first = b.memset(middle.span().subspan(90, 10), 1).label("first");
    n.drive(b.memcpy(middle, from).label("copy"));
    b.memset(middle.span().subspan(90, 10), 2).label("second").after(first);
    Graph graph = std::move(b).build();
    CHECK(reasons_of(relax(graph)) == Reasons{StayReason::driven});
    CHECK(edges_of(graph) == Edges{"first -> second"});
}

TEST_CASE("nodes that a region declares keep the order of the capture", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    const cudag::Stream stream, fork;
    GraphBuilder b;
    const auto region = b.capture(stream, [&](StreamCapture& c) {
        c.step("first", [&] { cudag::launch(stream, {}, store, x.data(), 1); });
        c.step("known", [&] { cudag::launch(stream, {}, store, z, 1); });
        c.fork(fork);
        c.step("second", [&] { cudag::launch(stream, {}, add, x.data(), x.data(), 1); });
        c.step("beside", [&] { cudag::launch(fork, {}, store, y, 1); });
        c.join(fork);
    });
    region.writes(x, y);
    b.memcpy(z, y).label("last").after(region);
    Graph graph = std::move(b).build();
    CHECK(relax(graph).staying.empty());
    // "first" may write y, as far as the region says
    CHECK(edges_of(graph) ==
          Edges{"beside -> last", "first -> beside", "first -> second", "known -> last", "second -> last"});
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(x)[0] == 2);
}

TEST_CASE("nodes of a region keep their order with those for which it declares the same memory", "[graph][relax]") {
    const DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream;
    GraphBuilder b;
    const auto region = b.capture(stream, [&](StreamCapture& c) {
        c.step("raw", [&] { cudag::launch(stream, {}, store, x.data(), 1); });
        c.step("other", [&] { cudag::launch(stream, {}, store, y, 1); });
        c.step("x", [&] { cudag::launch(stream, {}, store, x, 2); });
    });
    region.writes(x);
    Graph graph = std::move(b).build();
    CHECK(relax(graph).staying.empty());
    CHECK(edges_of(graph) == Edges{"raw -> x"});
}

TEST_CASE("nodes that a region declares stay if a path leaves the region and comes back", "[graph][relax]") {
    const DeviceBuffer<int> x(1), z(1);
    const cudag::Stream stream, fork;
    GraphBuilder b;
    const auto region = b.capture(stream, [&](StreamCapture& c) {
        c.step("first", [&] { cudag::launch(stream, {}, store, x.data(), 1); });
        c.fork(fork);
        c.step("second", [&] { cudag::launch(stream, {}, add, x.data(), x.data(), 1); });
        c.step("third", [&] { cudag::launch(fork, {}, nothing); });
        c.join(fork);
    });
    region.writes(x);
    const auto between = b.memset(z, 1).label("between").after(region.nodes().at(1));
    region.nodes().at(2).as(nothing).after(between);
    Graph graph = std::move(b).build();
    CHECK(relax(graph).staying.empty());
    CHECK(edges_of(graph) == Edges{"between -> third", "first -> second", "second -> between"});
}
