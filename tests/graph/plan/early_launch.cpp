// Kernels that declare to wait for previous ones, and therefore start early.
#include <string>
#include <vector>

#include "cuda_version.hpp"
#include "functions.hpp"
#include "native.hpp"
#include "waiting_kernels.hpp"

using cudag::capture;
using cudag::Edge;
using cudag::EdgeKind;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::InstantiateOptions;
using cudag::LaunchConfig;
using cudag::Plan;
using cudag::Stream;

namespace {

constexpr LaunchConfig waits{.waits_for_previous = true};

/// Whether each of CUDA's edges is programmatic, in CUDA's order.
std::vector<bool> are_early(cudaGraph_t graph) {
    std::size_t count = 0;
    cudag::check(get_edges(graph, nullptr, nullptr, nullptr, &count));
    std::vector<cudaGraphNode_t> from(count), to(count);
    std::vector<cudaGraphEdgeData> data(count);
    if (count != 0) cudag::check(get_edges(graph, from.data(), to.data(), data.data(), &count));
    std::vector<bool> early;
    for (const cudaGraphEdgeData& edge : data) {
        early.push_back(edge.type == cudaGraphDependencyTypeProgrammatic);
        CHECK(edge.from_port == (early.back() ? cudaGraphKernelNodePortProgrammatic : cudaGraphKernelNodePortDefault));
    }
    return early;
}

/// Instantiates the graph and tells its early edges.
std::vector<bool> early_edges_of(const Graph& graph, const Plan& plan = {}) {
    static_cast<void>(graph.instantiate({.plan = plan}));
    return are_early(graph.native());
}

/// p[1] = p[0] + 10, p[2] = p[1] + 100, and so on; p[0] = 1.
Graph line(int* p, int length, const LaunchConfig& config = waits) {
    GraphBuilder b;
    auto last = b.kernel({}, store, p, 1).label("first");
    cudag::KernelNode<int*, const int*, int> before = b.kernel(config, wait_and_add, p + 1, p, 10).after(last);
    for (int i = 1; i < length; ++i)
        before = b.kernel(config, wait_and_add, p + i + 1, p + i, 10).after(before).label("next");
    return std::move(b).build();
}

void check_runs(Exec& exec, const cudag::DeviceBuffer<int>& cells, const std::vector<int>& expected) {
    const Stream stream;
    for (int turn = 0; turn < 10; ++turn) {
        write(cells.span(), std::vector<int>(expected.size()));
        run(exec, stream);
        REQUIRE(read(cells) == expected);
    }
}

std::string refusal_of(const cudag::UpdateReport& report) {
    REQUIRE_FALSE(report.updated());
    return report.to_string();
}

} // namespace

TEST_CASE("kernels that declare their wait start early, in order", "[plan][early]") {
    const auto cells = device(std::vector<int>(41));
    const Graph graph = line(cells.data(), 40);
    Exec exec = graph.instantiate();
    CHECK(are_early(graph.native()) == std::vector<bool>(40, true));
    CHECK(exec.plan().early_edges() == 40);
    CHECK(exec.plan().edges_after() == 40);
    CHECK_THAT(exec.plan().to_string(), ContainsSubstring("40 edges became 40, 40 of them programmatic"));
    CHECK_THAT(exec.dot(), ContainsSubstring("programmatic"));
    for (const Edge& edge : graph.edges())
        CHECK(edge.kind == EdgeKind::full);
    std::vector<int> expected;
    for (int i = 0; i <= 40; ++i)
        expected.push_back(1 + 10 * i);
    check_runs(exec, cells, expected);
}

TEST_CASE("nothing starts early without a declaration, or with early off", "[plan][early]") {
    const auto cells = device({0, 0, 0});
    const std::vector<bool> full(2, false);
    CHECK(early_edges_of(line(cells.data(), 2, {})) == full);
    CHECK(early_edges_of(line(cells.data(), 2), {.early = false}) == full);
    CHECK(early_edges_of(line(cells.data(), 2), Plan::as_written()) == full);
    const Graph graph = line(cells.data(), 2);
    const Plan off{.early = false};
    for (const bool early : {true, false, true})
        CHECK(early_edges_of(graph, early ? Plan() : off) == std::vector<bool>(2, early));
    CHECK_THAT(graph.instantiate({.plan = off}).plan().to_string(),
               ContainsSubstring("2 edges, as they were written") && ContainsSubstring("early") &&
                   ContainsSubstring("2 of them programmatic"));
}

TEST_CASE("a kernel behind a kernel and another node starts early, but not before the other ends", "[plan][early]") {
    const auto cells = device({0, 0, 0});
    GraphBuilder b;
    const auto fill = b.memset(cells.span().subspan(0, 1), 5);
    const auto first = b.kernel({}, store, cells.data() + 1, 1);
    b.kernel(waits, wait_and_add, cells.data() + 2, cells.data(), 10).after(fill, first);
    const Graph graph = std::move(b).build();
    CHECK(early_edges_of(graph) == std::vector<bool>{false, true});
    Exec exec = graph.instantiate();
    check_runs(exec, cells, {5, 1, 15});
}

TEST_CASE("what comes after a kernel that starts early comes after all before it", "[plan][early]") {
    const auto cells = device({0, 0, 0, 0});
    int* const p = cells.data();
    GraphBuilder b;
    const auto x = b.kernel({}, store, p, 1);
    const auto a = b.kernel(waits, let_next_start_then_add, p + 1, p, 10).after(x);
    const auto c = b.kernel(waits, wait_and_add, p + 2, p, 100).after(a, x); // x is redundant
    b.kernel({}, add, p + 3, p, 1000).after(c, a, x);
    const Graph graph = std::move(b).build();
    CHECK(early_edges_of(graph) == std::vector<bool>{true, true, false});
    Exec exec = graph.instantiate();
    check_runs(exec, cells, {1, 11, 101, 1001});
}

TEST_CASE("forks and joins of waiting kernels start early", "[plan][early]") {
    const auto cells = device({0, 0, 0, 0});
    int* const p = cells.data();
    GraphBuilder b;
    const auto x = b.kernel({}, store, p, 1);
    const auto left = b.kernel(waits, let_next_start_then_add, p + 1, p, 10).after(x);
    const auto right = b.kernel(waits, let_next_start_then_add, p + 2, p, 100).after(x);
    b.kernel(waits, wait_and_add, p + 3, p + 2, 1000).after(left, right);
    const Graph graph = std::move(b).build();
    CHECK(early_edges_of(graph) == std::vector<bool>(4, true));
    Exec exec = graph.instantiate();
    check_runs(exec, cells, {1, 11, 101, 1101});
}

TEST_CASE("a kernel that other kernels change does not start early", "[plan][early]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto first = b.kernel({}, store, cells.data(), 1);
    b.kernel({.device_updatable = true, .waits_for_previous = true}, wait_and_add, cells.data() + 1, cells.data(), 10)
        .after(first);
    CHECK(early_edges_of(std::move(b).build()) == std::vector<bool>{false});
}

TEST_CASE("kernels start early in graphs inside graphs, in clones and in inferred graphs", "[plan][early]") {
    const auto cells = device({0, 0, 0});
    int* const p = cells.data();
    SECTION("a child") {
        GraphBuilder b;
        add_child(b, line(p, 2));
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        CHECK(exec.plan().early_edges() == 2);
        check_runs(exec, cells, {1, 11, 21});
    }
    SECTION("a body") {
        GraphBuilder b;
        const auto yes = b.condition(1U);
        b.if_(yes, [&](GraphBuilder& body) {
            const auto first = body.kernel({}, store, p, 1);
            const auto second = body.kernel(waits, wait_and_add, p + 1, p, 10).after(first);
            body.kernel(waits, wait_and_add, p + 2, p + 1, 10).after(second);
        });
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        CHECK(exec.plan().early_edges() == 2);
        check_runs(exec, cells, {1, 11, 21});
    }
    SECTION("a clone") {
        const Graph graph = line(p, 2).clone();
        Exec exec = graph.instantiate();
        CHECK(are_early(graph.native()) == std::vector<bool>(2, true));
        check_runs(exec, cells, {1, 11, 21});
    }
    SECTION("an inferred graph") {
        const auto cell = [&](std::size_t i) { return cells.span().subspan(i, 1); };
        GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        b.kernel({}, store, cudag::out(cell(0)), 1);
        b.kernel(waits, wait_and_add, cudag::out(cell(1)), cell(0), 10);
        b.kernel(waits, wait_and_add, cudag::out(cell(2)), cell(1), 10);
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        CHECK(are_early(graph.native()) == std::vector<bool>(2, true));
        check_runs(exec, cells, {1, 11, 21});
    }
    SECTION("a graph with memory nodes") {
        GraphBuilder b;
        const auto memory = b.alloc<int>(1);
        const auto first = b.kernel({}, store, memory.span().data(), 1).after(memory);
        const auto second = b.kernel(waits, wait_and_add, p, memory.span().data(), 10).after(first);
        b.kernel(waits, wait_and_add, p + 1, p, 10).after(second);
        b.free(memory).after(second);
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        CHECK(exec.plan().early_edges() == 2);
        check_runs(exec, cells, {11, 21, 0});
    }
}

TEST_CASE("kernels launched into a capture with their wait declared start early", "[capture][early]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    const auto record = [&](const LaunchConfig& config) {
        return capture(stream, [&](cudaStream_t s) {
            cudag::launch(s, {}, store, cudag::out(cells.span().subspan(0, 1)), 1);
            cudag::launch(s, config, wait_and_add, cudag::out(cells.span().subspan(1, 1)), cells.span().subspan(0, 1),
                          10);
            cudag::launch(s, config, wait_and_add, cudag::out(cells.span().subspan(2, 1)), cells.span().subspan(0, 1),
                          100);
        });
    };
    Graph graph = record(waits);
    SECTION("an exec") {
        Exec exec = graph.instantiate();
        CHECK(are_early(graph.native()) == std::vector<bool>(2, true));
        check_runs(exec, cells, {1, 11, 101});
    }
    SECTION("an update that repeats the declaration") {
        Exec exec = graph.instantiate();
        const auto node = graph.find(wait_and_add).at(0);
        exec.update(node, waits, cells.data() + 1, cells.data(), 20);
        check_runs(exec, cells, {1, 21, 101});
        exec.update(node, {}, cells.data() + 1, cells.data(), 30);
        check_runs(exec, cells, {1, 31, 101});
    }
    SECTION("a whole update") {
        Exec exec = graph.instantiate();
        CHECK(exec.update(record(waits)).updated());
        CHECK_THAT(refusal_of(exec.update(record({}))), ContainsSubstring("to run this graph, instantiate it"));
        check_runs(exec, cells, {1, 11, 101});
    }
    SECTION("relaxed") {
        CHECK(relax(graph).staying.empty());
        const auto nodes = graph.nodes();
        CHECK(graph.edges() == std::vector<Edge>{{nodes[0], nodes[1]}, {nodes[0], nodes[2]}});
        Exec exec = graph.instantiate();
        CHECK(are_early(graph.native()) == std::vector<bool>(2, true));
        check_runs(exec, cells, {1, 11, 101});
    }
}

TEST_CASE("a kernel that waits may be launched early in a stream", "[stream][early]") {
    const auto cells = device({0, 0});
    const Stream stream;
    for (int turn = 0; turn < 10; ++turn) {
        cudag::launch(stream, {}, store, cells.data(), turn);
        cudag::launch(stream, waits, wait_and_add, cells.data() + 1, cells.data(), 10);
        cudag::launch(stream, {.waits_for_previous = true, .programmatic_stream_serialization = true}, wait_and_add,
                      cells.data(), cells.data() + 1, 10);
        stream.synchronize();
        CHECK(read(cells) == std::vector{turn + 20, turn + 10});
    }
}

TEST_CASE("an update neither adds nor removes the declaration of a wait", "[exec][early]") {
    const auto cells = device({0, 0});
    int* const p = cells.data();
    const Graph graph = line(p, 1), plain = line(p, 1, {});
    Exec exec = graph.instantiate(), plain_exec = plain.instantiate();
    const auto node = graph.find(wait_and_add).at(0);
    exec.update(node, waits, p + 1, p, 20);
    exec.update(node, {}, p + 1, p, 30);
    const auto error =
        refused<cudag::UpdateError>([&] { plain_exec.update(plain.find(wait_and_add).at(0), waits, p + 1, p, 20); });
    CHECK_THAT(error.what(), ContainsSubstring("waits_for_previous is no, the update's is yes"));
    CHECK_THAT(refusal_of(exec.update(plain)), ContainsSubstring("waits_for_previous"));
    CHECK_THAT(refusal_of(plain_exec.update(graph)), ContainsSubstring("waits_for_previous"));
    CHECK(exec.update(line(p, 1)).updated());
    CHECK_FALSE(diff(graph, plain).empty());
    check_runs(exec, cells, {1, 11});
    check_runs(plain_exec, cells, {1, 11});
}

TEST_CASE("a declared wait orders nothing by itself", "[builder][races][early]") {
    const auto cells = device({0, 0});
    const auto cell = cells.span().subspan(0, 1);
    GraphBuilder b;
    const auto first = b.kernel({}, store, cudag::out(cell), 1).label("first");
    const auto second = b.kernel(waits, wait_and_add, cudag::out(cells.span().subspan(1, 1)), cell, 10).label("second");
    const auto error = refused<cudag::RaceError>([&] { b.check(); });
    CHECK_THAT(error.what(), ContainsSubstring("first") && ContainsSubstring("second"));
    second.after(first);
    const Graph graph = std::move(b).build();
    CHECK(graph.races().empty());
    static_cast<void>(graph.instantiate());
    CHECK(graph.races().empty());
}

TEST_CASE("a kernel of PTX text that declares a wait and has none is refused by name", "[plan][early]") {
    if (older_than(12080)) return; // CUDA's libraries
    const auto cells = device({0});
    static_cast<void>(load_library());
    std::string text = library_text;
    text.replace(text.find("sm_52"), 5, "sm_90");
    const auto fill = cudag::Library::from_ptx(text).function("library_fill");
    GraphBuilder b;
    const auto error = refused<cudag::GraphError>([&] { b.kernel(waits, fill, cells.data(), 7); });
    CHECK_THAT(error.what(), ContainsSubstring("library_fill") &&
                                 ContainsSubstring("waits_for_previous: its PTX has no griddepcontrol.wait"));
    const Stream stream;
    CHECK_THAT(refused<cudag::Error>([&] { cudag::launch(stream, waits, fill, cells.data(), 7); }).what(),
               ContainsSubstring("launch of library_fill: waits_for_previous"));
    b.kernel({}, fill, cells.data(), 7);
    const auto for_older_devices = load_library().function("library_fill");
    CHECK_NOTHROW(GraphBuilder().kernel(waits, for_older_devices, cells.data(), 7)); // it never starts early
    run(std::move(b));
    CHECK(read(cells) == std::vector{7});
}
