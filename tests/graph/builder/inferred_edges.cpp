// Edges that come from what nodes do to memory.
#include "test.hpp"

#include <algorithm>
#include <string>
#include <vector>

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::StreamCapture;

namespace {

constexpr cudag::BuilderOptions inferred{.dependencies = cudag::Dependencies::inferred};

std::vector<std::string> edges_of(const Graph& graph) {
    std::vector<std::string> edges;
    for (const auto& edge : graph.edges())
        edges.push_back(std::string(edge.from.label()) + " -> " + std::string(edge.to.label()));
    std::ranges::sort(edges);
    return edges;
}

template <class Write>
std::vector<std::string> edges_inferred(const Write& write) {
    GraphBuilder b(inferred);
    write(b);
    return edges_of(std::move(b).build());
}

} // namespace

TEST_CASE("a node comes after the last that wrote what it reads", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    CHECK(edges_inferred([&](GraphBuilder& b) {
              b.kernel({}, store, x, 1).label("x");
              b.kernel({}, store, y, 2).label("y");
              b.kernel({}, add, z, x, 1).label("x to z");
              b.kernel({}, add, z, y, 1).label("y to z");
          }) == std::vector<std::string>{"x -> x to z", "x to z -> y to z", "y -> y to z"});
}

TEST_CASE("a node comes after all that read what it writes", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    CHECK(edges_inferred([&](GraphBuilder& b) {
              b.kernel({}, store, x, 1).label("write");
              b.kernel({}, add, y, x, 1).label("read");
              b.kernel({}, add, z, x, 1).label("read too");
              b.kernel({}, store, x, 2).label("write again");
          }) == std::vector<std::string>{"read -> write again", "read too -> write again", "write -> read",
                                         "write -> read too"});
}

TEST_CASE("copies, fills and host nodes take part", "[builder][inferred]") {
    const DeviceBuffer<int> x(4);
    std::vector<int> up{1, 2, 3, 4}, down(4);
    CHECK(edges_inferred([&](GraphBuilder& b) {
              b.memset(x, 0).label("clear");
              b.memcpy(x, up).label("up");
              b.memcpy(down, x).label("down");
              b.host([] {}).reads(down).label("look");
          }) == std::vector<std::string>{"clear -> up", "down -> look", "up -> down"});
}

TEST_CASE("what is written by hand is kept, and goes before the order of the program", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    CHECK(edges_inferred([&](GraphBuilder& b) {
              const auto late = b.kernel({}, add, y, x, 1).label("late");
              const auto early = b.kernel({}, store, x, 1).label("early");
              late.after(b.join(early).label("join"));
          }) == std::vector<std::string>{"early -> join", "early -> late", "join -> late"});
    CHECK(edges_inferred([&](GraphBuilder& b) {
              const auto a = b.kernel({}, store, x, 1).label("a");
              b.kernel({}, store, y, 1).label("b").after(a);
          }) == std::vector<std::string>{"a -> b"});
}

TEST_CASE("uses of graph memory come after it is allocated, and it is freed after them", "[builder][inferred]") {
    std::vector<int> down(1);
    GraphBuilder b(inferred);
    const auto memory = b.alloc<int>(1).label("alloc");
    b.kernel({}, store, memory.span(), 5).label("store");
    b.memcpy(down, memory.span()).label("down");
    b.free(memory).label("free");
    const Graph graph = std::move(b).build();
    CHECK(edges_of(graph) == std::vector<std::string>{"alloc -> store", "down -> free", "store -> down"});
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
    CHECK(down[0] == 5);
}

TEST_CASE("bodies are ordered by what their nodes do", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    std::vector<int> down(1);
    GraphBuilder b(inferred);
    b.memset(y, 0);
    b.if_(b.condition(1), [&](GraphBuilder& body) {
        body.kernel({}, store, x, 20).label("store");
        body.kernel({}, add, y, x, 3).label("add");
    });
    b.memcpy(down, y);
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 2);
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    for (int i = 0; i < 8; ++i) {
        exec.launch(stream);
        stream.synchronize();
        CHECK(down[0] == 23);
    }
}

TEST_CASE("a builder that cannot be built has no edges but its own", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    GraphBuilder b(inferred);
    const auto first = b.kernel({}, store, x, 1).label("first");
    const auto second = b.kernel({}, add, y, x, 1).label("second");
    const cudag::Condition condition = b.condition(1);
    CHECK_THROWS_AS(b.check(), cudag::GraphError); // the condition has no node
    first.after(second);                           // so there is no edge from first to second
    b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); });
    CHECK(edges_of(std::move(b).build()) == std::vector<std::string>{"second -> first"});
}

TEST_CASE("edges are the same each time", "[builder][inferred]") {
    const DeviceBuffer<std::uint32_t> cells(16);
    const auto write = [&](GraphBuilder& b) {
        for (unsigned i = 0; i < 40; ++i)
            b.kernel({}, mix, cells.span().subspan(i * 7 % 13, 3), 0U, Inputs{}, i).label(std::to_string(i));
    };
    CHECK(edges_inferred(write) == edges_inferred(write));
}

TEST_CASE("an early edge that stands where an inferred one would is refused as a race, in bodies, too",
          "[builder][inferred]") {
    const DeviceBuffer<int> x(1);
    const auto write = [&](GraphBuilder& b) {
        const auto first = b.kernel({}, store, x, 1);
        b.kernel({}, store, x, 2).after(cudag::launch_completion(first));
    };
    GraphBuilder plain(inferred);
    write(plain);
    static_cast<void>(refused<cudag::RaceError>([&] { plain.check(); }));
    GraphBuilder nested(inferred);
    nested.if_(nested.condition(1), write);
    static_cast<void>(refused<cudag::RaceError>([&] { nested.check(); }));
}

TEST_CASE("a captured region takes part as one node", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    const cudag::Stream stream, fork;
    std::vector<int> down(1);
    const auto write = [&](GraphBuilder& b) {
        b.memset(x, 0).label("clear x");
        b.memset(z, 0).label("clear z");
        b.capture(stream, [&](StreamCapture& c) {
            c.step("first", [&] { cudag::launch(stream, {}, add, y, x, 1); });
            c.fork(fork);
            c.step("second", [&] { cudag::launch(stream, {}, add, y, y, 1); });
            c.step("third", [&] { cudag::launch(fork, {}, nothing); });
            c.join(fork);
        });
        b.memcpy(down, y).label("down");
    };
    CHECK(edges_inferred(write) == std::vector<std::string>{"clear x -> first", "first -> second", "first -> third",
                                                            "second -> down", "third -> down"});
}

TEST_CASE("regions declare what libraries do", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream;
    const auto library = [&](int* to, const int* from) {
        return [=](cudaStream_t s) { cudag::launch(s, {}, add, to, from, 1); };
    };
    GraphBuilder b(inferred);
    b.kernel({}, store, x, 1).label("x");
    b.capture(stream, library(y.data(), x.data())).label("library").reads(x).writes(y);
    b.kernel({}, store, x, 2).label("x again");
    b.capture(stream, library(x.data(), y.data())).label("other").reads(y).writes(x);
    const Graph graph = std::move(b).build();
    CHECK(edges_of(graph) ==
          std::vector<std::string>{"library -> other", "library -> x again", "x -> library", "x again -> other"});
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(x)[0] == 3);
}

TEST_CASE("an edge to a part of a region does not stand for all of it", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream, fork;
    GraphBuilder b(inferred);
    const auto first = b.memset(x, 0).label("first");
    const auto region = b.capture(stream, [&](StreamCapture& c) {
        c.fork(fork);
        c.step("a", [&] { cudag::launch(stream, {}, add, y, x, 1); });
        c.step("b", [&] { cudag::launch(fork, {}, nothing); });
        c.join(fork);
    });
    b.join(region.nodes().at(0)).label("join");
    b.kernel({}, store, y, 1).label("last").after(region.nodes().at(0));
    static_cast<void>(first);
    CHECK(edges_of(std::move(b).build()) ==
          std::vector<std::string>{"a -> join", "a -> last", "b -> last", "first -> a", "first -> b"});
}

TEST_CASE("no edge is inferred to a region where there is one, of whatever kind", "[builder][inferred]") {
    const DeviceBuffer<int> x(1);
    const cudag::Stream stream;
    GraphBuilder b(inferred);
    cudag::KernelNode<int*, int> inside;
    const auto first = b.kernel({}, store, x, 1).label("first");
    b.capture(stream, [&](StreamCapture& c) { inside = c.kernel({}, store, x, 2).label("inside"); });
    inside.after(cudag::programmatic(first));
    const Graph graph = std::move(b).build();
    REQUIRE(graph.edge_count() == 1);
    CHECK(graph.edges()[0].kind == cudag::EdgeKind::programmatic);
}

TEST_CASE("a node between two parts of a region is refused, as it is one", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream;
    GraphBuilder b(inferred);
    cudag::KernelNode<int*, int> second;
    const auto region = b.capture(stream, [&](StreamCapture& c) {
        c.kernel({}, store, x, 1);
        second = c.kernel({}, store, x, 2);
    });
    const auto between = b.kernel({}, store, y, 1).label("between").after(region.nodes().at(0));
    b.check();
    second.after(between);
    const auto error = refused<cudag::GraphError>([&] { b.check(); });
    CHECK_THAT(error.what(), StartsWith("cudag: build: kernel \"between\" at ") &&
                                 ContainsSubstring("the region captured at ") && EndsWith("capture two regions"));
}

TEST_CASE("races inside a region are refused where edges are inferred, too", "[builder][inferred]") {
    const DeviceBuffer<int> x(1);
    const cudag::Stream stream, fork;
    GraphBuilder b(inferred);
    b.capture(stream, [&](StreamCapture& c) {
        cudag::launch(stream, {}, nothing);
        c.fork(fork);
        cudag::launch(stream, {}, store, x, 1);
        cudag::launch(fork, {}, store, x, 1);
        c.join(fork);
    });
    static_cast<void>(refused<cudag::RaceError>([&] { b.check(); }));
}

TEST_CASE("edges are inferred for the most that a parameter may drive a size to", "[builder][inferred][dynamic]") {
    const DeviceBuffer<int> from(100), middle(100), to(100);
    write(from.span(), std::vector<int>(100, 7));
    for (const cudag::Races races : {cudag::Races::refused, cudag::Races::allowed}) {
        write(middle.span(), std::vector<int>(100, 0));
        cudag::DynamicParam<int> n(10);
        GraphBuilder b({.races = races, .dependencies = cudag::Dependencies::inferred});
        n.drive(b.memcpy(middle, from).label("copy"));
        n.drive(b.memset(from.span().subspan(50, 50), 7).label("fill"), [](int count) { return (count + 1) / 2; });
        b.memcpy(to.span().subspan(50, 50), middle.span().subspan(50, 50)).label("read");
        const Graph graph = std::move(b).build();
        CHECK(edges_of(graph) == std::vector<std::string>{"copy -> fill", "copy -> read"});
        cudag::Exec exec = graph.instantiate();
        CHECK(n.set(100, exec) == 2);
        const cudag::Stream stream;
        run(exec, stream);
        CHECK(read(to)[99] == 7);
    }
}

TEST_CASE("edges are inferred for the most doubles of a driven fill", "[builder][inferred][dynamic]") {
    const DeviceBuffer<double> filled(100), to(100);
    write(filled.span(), std::vector<double>(100, 1.0));
    cudag::DynamicParam<int> n(10);
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    n.drive(b.clear(filled).label("fill"));
    b.memcpy(to.span().subspan(50, 50), filled.span().subspan(50, 50)).label("read");
    const Graph graph = std::move(b).build();
    CHECK(edges_of(graph) == std::vector<std::string>{"fill -> read"});
    cudag::Exec exec = graph.instantiate();
    CHECK(n.set(100, exec) == 1);
    const cudag::Stream stream;
    run(exec, stream);
    CHECK(read(to)[99] == 0.0);
}

TEST_CASE("a parameter that is a span counts as that span", "[builder][inferred][dynamic]") {
    const DeviceBuffer<int> x(16), y(16), out(1);
    const cudag::DynamicParam<cudag::DeviceSpan<const int>> reading(x.span());
    CHECK(edges_inferred([&](GraphBuilder& b) {
              b.memset(x, 1).label("x");
              b.memset(y, 1).label("y");
              b.kernel({}, sum, out, reading).label("sum");
              b.memset(x, 2).label("x again");
          }) == std::vector<std::string>{"sum -> x again", "x -> sum"});
}

TEST_CASE("a join stands between many readers and many writers", "[builder][inferred]") {
    constexpr std::size_t n = 40;
    const DeviceBuffer<int> x(n), out(n);
    write(x.span(), std::vector<int>(n, 1));
    const auto write_all = [&](GraphBuilder& b) {
        for (std::size_t i = 0; i < n; ++i)
            b.kernel({}, sum, out.span().subspan(i, 1), cudag::DeviceSpan<const int>(x.span()));
        for (std::size_t i = 0; i < n; ++i)
            b.kernel({}, store, x.span().subspan(i, 1), 5);
    };
    GraphBuilder b(inferred);
    write_all(b);
    const auto body_condition = b.condition(1);
    b.if_(body_condition, [&](GraphBuilder& body) { write_all(body); });
    b.check(); // takes the joins back
    b.check();
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 2 * n + 1 + 1);
    CHECK(graph.edge_count() == 2 * n + 2 * n);
    CHECK(graph.races().empty());
    const cudag::Node join = graph.nodes().back();
    CHECK(join.kind() == cudag::NodeKind::empty);
    CHECK(join.label() == "inferred join");
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(out) == std::vector<int>(n, 5 * static_cast<int>(n))); // of the body, after all that came before
    CHECK(read(x) == std::vector<int>(n, 5));
}

TEST_CASE("a graph where an allocation was made, or failed, gets no joins, but the order",
          "[builder][inferred][memory]") {
    constexpr std::size_t n = 33;
    const bool fails = GENERATE(false, true);
    const DeviceBuffer<int> x(n), out(n);
    GraphBuilder b(inferred);
    if (fails) {
        CHECK_THROWS_AS(b.alloc<char>(std::size_t{1} << 60U), cudag::GraphError);
    } else {
        const auto memory = b.alloc<int>(1);
        b.free(memory);
    }
    for (std::size_t i = 0; i < n; ++i)
        b.kernel({}, sum, out.span().subspan(i, 1), cudag::DeviceSpan<const int>(x.span()));
    for (std::size_t i = 0; i < n; ++i)
        b.kernel({}, store, x.span().subspan(i, 1), 5);
    b.check();
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 2 * n + (fails ? 0 : 2));
    CHECK(graph.edge_count() == n * n + (fails ? 0 : 1));
}

TEST_CASE("a join stands where the first node after it in the program was written", "[builder][inferred]") {
    constexpr std::size_t n = 40;
    const DeviceBuffer<int> x(n), y(1), out(n);
    GraphBuilder b(inferred);
    std::vector<cudag::KernelNode<int*, cudag::DeviceSpan<const int>>> readers;
    for (std::size_t i = 0; i < n; ++i)
        readers.push_back(b.kernel({}, sum, out.span().subspan(i, 1), cudag::DeviceSpan<const int>(x.span())));
    std::vector<cudag::KernelNode<int*, int>> writers;
    for (std::size_t i = 0; i < n; ++i)
        writers.push_back(b.kernel({}, store, x.span().subspan(i, 1), 5));
    for (int i = 0; i < 3; ++i) {
        const auto early = b.kernel({}, store, y, i);
        readers[static_cast<std::size_t>(i)].after(early); // so these come after the writers
    }
    const Graph graph = std::move(b).build();
    const cudag::Node join = graph.nodes().back();
    REQUIRE(join.label() == "inferred join");
    CHECK(join.location().line == writers[0].location().line);
    CHECK(graph.node_count() == 2 * n + 3 + 1);
}

TEST_CASE("no join leads to a node that has an early edge, and one to others", "[builder][inferred]") {
    constexpr std::size_t n = 40;
    const DeviceBuffer<int> x(n), out(n);
    GraphBuilder b(inferred);
    std::vector<cudag::KernelNode<int*, cudag::DeviceSpan<const int>>> readers;
    for (std::size_t i = 0; i < n; ++i)
        readers.push_back(b.kernel({}, sum, out.span().subspan(i, 1), cudag::DeviceSpan<const int>(x.span())));
    std::vector<cudag::KernelNode<int*, int>> writers;
    for (std::size_t i = 0; i < n; ++i)
        writers.push_back(b.kernel({}, store, x.span().subspan(i, 1), 5));
    writers[7].after(cudag::programmatic(readers[3]));
    writers[8].after(readers[3]);
    const Graph graph = std::move(b).build();
    const cudag::Node join = graph.nodes().back();
    REQUIRE(join.label() == "inferred join");
    std::size_t to_join = 0, from_join = 0, to_early = 0, to_other = 0;
    for (const cudag::Edge& edge : graph.edges()) {
        to_join += edge.to == join ? 1U : 0U;
        from_join += edge.from == join ? 1U : 0U;
        to_early += edge.to == writers[7] ? 1U : 0U;
        to_other += edge.to == writers[8] ? 1U : 0U;
    }
    CHECK(to_join == n);
    CHECK(from_join == n - 1);
    CHECK(to_early == n);
    CHECK(to_other == 2);
}

TEST_CASE("a cycle is told by the edges that were written, where others are inferred", "[builder][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    GraphBuilder b(inferred);
    const auto first = b.kernel({}, store, x, 1).label("first");
    const auto second = b.kernel({}, store, y, 1).label("second").after(first);
    b.kernel({}, add, y, x, 1).label("third");
    first.after(second);
    const auto error = refused<cudag::GraphError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"first", "second"});
    CHECK_THAT(error.what(), ContainsSubstring("cycle") && !ContainsSubstring("third"));
}

TEST_CASE("races that a child was built with are its own, where edges are inferred, too", "[builder][inferred]") {
    const DeviceBuffer<int> x(1);
    const cudag::Stream stream;
    GraphBuilder racing(cudag::BuilderOptions{.races = cudag::Races::allowed});
    racing.kernel({}, store, x, 1);
    racing.kernel({}, store, x, 2);
    racing.capture(stream, [](cudaStream_t s) { cudag::launch(s, {}, nothing); });
    const Graph child = std::move(racing).build();
    GraphBuilder b(inferred);
    b.child(child);
    CHECK_NOTHROW(b.check());
}
