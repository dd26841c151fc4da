// Nodes that are written into a running capture: typed kernels, conditionals, whatever a builder writes.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "owners_sample.hpp"
#include "test.hpp"
#include "usable.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

using cudag::arg;
using cudag::capture;
using cudag::CaptureError;
using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Edge;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::KernelNode;
using cudag::launch;
using cudag::Node;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

using AddNode = KernelNode<int*, const int*, int>;

/// Whether an edge leads from one node to the other.
bool has_edge(const Graph& graph, const Node& from, const Node& to) {
    const std::vector<Edge> edges = graph.edges();
    return std::find(edges.begin(), edges.end(), Edge{from, to}) != edges.end();
}

} // namespace

TEST_CASE("a kernel that is written into a capture stands between what is recorded before and after",
          "[capture][add]") {
    const Stream stream;
    const auto cells = device({0, 0, 0});
    int* const x = cells.data();
    AddNode middle;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, store, x, 1);
        middle = c.kernel({}, add, x + 1, x, 10);
        launch(c.stream(), {}, add, x + 2, x + 1, 100);
    });
    REQUIRE(graph.node_count() == 3);
    CHECK(graph.nodes()[1] == middle);
    CHECK(graph.edges() == std::vector<Edge>{{graph.nodes()[0], middle}, {middle, graph.nodes()[2]}});
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 11, 111});
}

TEST_CASE("the handle of a kernel written into a capture updates its execs and its graph", "[capture][add]") {
    const Stream stream;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    AddNode node;
    Graph graph = capture(stream, [&](StreamCapture& c) {
        node = c.kernel({}, add, x, x, 1).label("first");
        launch(c.stream(), {}, add, x + 1, x, 0);
    });
    CHECK(graph.find_one("first") == node);
    Exec exec = graph.instantiate();
    exec.update(node, arg<2>(5));
    run(exec, stream);
    CHECK(read(cells) == std::vector{5, 5});
    graph.update(node, arg<2>(100));
    Exec other = graph.instantiate();
    run(other, stream);
    CHECK(read(cells) == std::vector{105, 105});
}

TEST_CASE("a capture may begin and end with what is written into it, or hold nothing else", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    int* const x = cell.data();
    SECTION("begin") {
        Exec exec = capture(stream, [&](StreamCapture& c) {
                        c.kernel({}, store, x, 2);
                        launch(c.stream(), {}, add, x, x, 1);
                    }).instantiate();
        run(exec, stream);
        CHECK(read(cell) == std::vector{3});
    }
    SECTION("end") {
        Exec exec = capture(stream, [&](StreamCapture& c) {
                        launch(c.stream(), {}, store, x, 4);
                        c.kernel({}, add, x, x, 1);
                    }).instantiate();
        run(exec, stream);
        CHECK(read(cell) == std::vector{5});
    }
    SECTION("nothing else") {
        const Graph graph = capture(stream, [&](StreamCapture& c) {
            c.kernel({}, store, x, 6);
            c.kernel({}, add, x, x, 1);
        });
        CHECK(graph.edges().size() == 1);
        Exec exec = graph.instantiate();
        run(exec, stream);
        CHECK(read(cell) == std::vector{7});
    }
}

TEST_CASE("what a function adds to a capture is ordered by its edges, before and after all that is recorded",
          "[capture][add]") {
    const Stream stream, side;
    const auto cells = device({0, 0, 0, 0, 0});
    int* const x = cells.data();
    std::vector<Node> written;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.fork(side);
        launch(c.stream(), {}, store, x, 1);
        launch(side, {}, store, x + 1, 2);
        c.join(side);
        written = c.add([&](GraphBuilder& b) {
            const auto left = b.kernel({}, add, x + 2, x, 10);
            const auto right = b.kernel({}, add, x + 3, x + 1, 20);
            const auto last = b.kernel({}, add, x + 2, x + 2, 100).after(left);
            return std::vector<Node>{left, right, last};
        });
        launch(c.stream(), {}, add, x + 4, x + 2, 1000);
    });
    const std::vector<Node> nodes = graph.nodes();
    REQUIRE(nodes.size() == 6);
    REQUIRE(std::vector(nodes.begin() + 2, nodes.begin() + 5) == written);
    for (const int before : {0, 1})
        for (const int after : {2, 3})
            CHECK(has_edge(graph, nodes[static_cast<std::size_t>(before)], nodes[static_cast<std::size_t>(after)]));
    CHECK(graph.edges().size() == 7);
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 2, 111, 22, 1111});
}

TEST_CASE("a function that adds nothing to a capture changes nothing", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cell.data(), 1);
        CHECK(c.add([](GraphBuilder&) { return 7; }) == 7);
        launch(c.stream(), {}, add, cell.data(), cell.data(), 1);
    });
    CHECK(graph.node_count() == 2);
    CHECK(graph.edges().size() == 1);
}

TEST_CASE("steps and marks name what is recorded in them, and what is written without a label", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    int* const x = cell.data();
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.step("step", [&] {
            launch(c.stream(), {}, store, x, 1);
            c.kernel({}, add, x, x, 1);
            c.kernel({}, add, x, x, 1).label("own");
            launch(c.stream(), {}, add, x, x, 1);
        });
        c.kernel({}, add, x, x, 1);
        launch(c.stream(), {}, add, x, x, 1);
        c.mark("mark");
    });
    std::vector<std::string> labels;
    for (const Node& node : graph.nodes())
        labels.emplace_back(node.label());
    CHECK(labels == std::vector<std::string>{"step", "step", "own", "step", "mark", "mark"});
    const Node recorded = graph.nodes()[0];
    const Node written = graph.nodes()[1];
    CHECK(written.location().line == recorded.location().line + 2); // each has its own
}

TEST_CASE("nodes of all kinds are written into a capture", "[capture][add]") {
    const Stream stream;
    const auto cells = device({1, 2, 3, 4});
    const auto copy = device({0, 0, 0, 0});
    int calls = 0;
    GraphBuilder inner;
    inner.kernel({}, add, copy.data(), copy.data(), 100);
    const Graph child = std::move(inner).build();
    Exec exec = capture(stream, [&](StreamCapture& c) {
                    launch(c.stream(), {}, add, cells.data(), cells.data(), 10);
                    c.add([&](GraphBuilder& b) {
                        const auto copied = b.memcpy(copy, cells);
                        const auto added = b.child(child).after(copied);
                        b.memset(cells, 0).after(copied);
                        b.host([&] { ++calls; }).after(added);
                    });
                    launch(c.stream(), {}, add, cells.data() + 1, cells.data(), 5);
                }).instantiate();
    run(exec, stream);
    CHECK(read(copy) == std::vector{111, 2, 3, 4});
    CHECK(read(cells) == std::vector{0, 5, 0, 0});
    CHECK(calls == 1);
}

TEST_CASE("a running capture takes an if, whose body runs in its place", "[capture][conditional][add]") {
    if (older_than(12040)) return;
    const Stream stream;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    for (const unsigned value : {0U, 1U}) {
        write(cells.span(), {0, 0});
        cudag::IfNode node;
        const Graph graph = capture(stream, [&](StreamCapture& c) {
            const Condition condition = c.condition(0);
            launch(c.stream(), {}, store, x, 1);
            c.kernel({}, set_condition, condition, value);
            node = c.if_(condition, [&](GraphBuilder& body) { body.kernel({}, add, x, x, 10); });
            launch(c.stream(), {}, add, x + 1, x, 100);
        });
        CHECK(graph.node_count() == 4);
        CHECK(node.body().node_count() == 1);
        Exec exec = graph.instantiate();
        run(exec, stream);
        CHECK(read(cells) == (value == 0 ? std::vector{1, 101} : std::vector{11, 111}));
    }
}

TEST_CASE("captured launches set conditions of the capture", "[capture][conditional][add]") {
    if (older_than(12080)) return;
    const Stream stream;
    const auto cells = device({3, 0});
    int* const x = cells.data();
    Exec exec = capture(stream, [&](StreamCapture& c) {
                    const Condition more = c.condition(1);
                    c.while_(more, [&](GraphBuilder& body) {
                        const auto counted = body.kernel({}, count_down, x, more);
                        body.kernel({}, add, x + 1, x + 1, 1).after(counted);
                    });
                    const Condition last = c.condition(0);
                    launch(c.stream(), {}, set_condition, last, 1U);
                    c.if_(
                        last, [&](GraphBuilder& body) { body.kernel({}, add, x + 1, x + 1, 100); },
                        [&](GraphBuilder& body) { body.kernel({}, store, x + 1, -1); });
                }).instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 103});
}

TEST_CASE("a running capture takes switches, repetitions, and conditions from device memory",
          "[capture][conditional][add]") {
    if (older_than(12080)) return;
    const Stream stream;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    const DeviceBuffer<unsigned> which = device({1U});
    Exec exec = capture(stream, [&](StreamCapture& c) {
                    const Condition choice = c.condition();
                    c.set(choice, which);
                    c.switch_(choice, {[&](GraphBuilder& body) { body.kernel({}, store, x, 5); },
                                       [&](GraphBuilder& body) { body.kernel({}, store, x, 7); }});
                    c.repeat(3, [&](GraphBuilder& body) { body.kernel({}, add, x + 1, x + 1, 2); });
                    launch(c.stream(), {}, add, x, x, 100);
                }).instantiate();
    run(exec, stream);
    run(exec, stream);
    CHECK(read(cells) == std::vector{107, 12});
}

TEST_CASE("what is written into a region of a builder is part of the region", "[capture][region][add]") {
    const Stream stream;
    const auto cells = device({0, 0, 0, 0});
    int* const x = cells.data();
    GraphBuilder b;
    const auto before = b.kernel({}, store, x, 1);
    AddNode first, middle;
    const auto region = b.capture(stream, [&](StreamCapture& c) {
                             first = c.kernel({}, add, x + 1, x, 10);
                             launch(c.stream(), {}, add, x + 2, x + 1, 100);
                             middle = c.kernel({}, add, x + 2, x + 2, 5).label("middle");
                             launch(c.stream(), {}, add, x + 2, x + 2, 1000);
                         }).after(before);
    const auto after = b.kernel({}, add, x + 3, x + 2, 0).after(region);
    CHECK(region.nodes().size() == 4);
    CHECK(region.nodes()[0] == first);
    const Graph graph = std::move(b).build();
    CHECK(graph.edges().size() == 5);
    CHECK(has_edge(graph, before, first));
    CHECK(has_edge(graph, middle, region.nodes()[3]));
    CHECK(has_edge(graph, region.nodes()[3], after));
    Exec exec = graph.instantiate();
    exec.update(middle, arg<2>(6));
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 11, 1117, 1117});
}

TEST_CASE("a region of a builder, and the body of a conditional, take conditionals", "[capture][region][add]") {
    if (older_than(12080)) return;
    const Stream stream;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    GraphBuilder b;
    const Condition outer = b.condition(1);
    const auto whole = b.if_(outer, [&](GraphBuilder& body) {
        body.capture(stream, [&](StreamCapture& c) {
            launch(c.stream(), {}, store, x, 1);
            const Condition inner = c.condition(1);
            c.if_(inner, [&](GraphBuilder& deep) { deep.kernel({}, add, x, x, 10); });
            launch(c.stream(), {}, add, x, x, 100);
        });
    });
    b.capture(stream, [&](StreamCapture& c) {
         const Condition more = c.condition(1);
         c.kernel({}, nothing);
         c.if_(more, [&](GraphBuilder& body) { body.kernel({}, add, x + 1, x, 1000); });
     }).after(whole);
    run(std::move(b));
    CHECK(read(cells) == std::vector{111, 1111});
}

TEST_CASE("what is written into a capture keeps its owners", "[capture][owners][add]") {
    const Stream stream;
    std::weak_ptr<const void> kept;
    std::optional<Graph> graph;
    {
        const auto cell = device({0});
        kept = cell.owner();
        graph = capture(stream, [&](StreamCapture& c) { c.kernel({}, store, cell, 1); });
    }
    CHECK_FALSE(kept.expired());
    graph.reset();
    CHECK(released(kept, stream));
}

TEST_CASE("a function that throws before it has added nodes leaves the capture as it was", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cell.data(), 1);
        CHECK_THROWS_AS(c.add([](GraphBuilder& b) {
            static_cast<void>(b.condition()); // which no conditional takes
            throw std::runtime_error("no");
        }),
                        std::runtime_error);
        CHECK_THROWS_AS(c.kernel({.block = 4096}, store, cell.data(), 1), GraphError);
        c.kernel({}, add, cell.data(), cell.data(), 1);
    });
    CHECK(graph.node_count() == 3); // the condition got a node: CUDA takes no graph where one has none
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{2});
}

TEST_CASE("a capture in which nodes were added that cannot stay is refused at its end, with where", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    Node left_over;
    const auto spoil = [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cell.data(), 1);
        CHECK_THROWS_AS(c.add([&](GraphBuilder& b) {
            left_over = b.kernel({}, store, cell.data(), 2);
            throw std::runtime_error("no");
        }),
                        std::runtime_error);
        launch(c.stream(), {}, store, cell.data(), 3);
    };
    SECTION("by itself") {
        const auto error = refused<CaptureError>([&] { static_cast<void>(capture(stream, spoil)); });
        CHECK_THAT(error.what(), ContainsSubstring("capture_added.cpp") && ContainsSubstring("capture it again"));
        CHECK_THROWS_AS(left_over.label(), GraphError);
    }
    SECTION("in a builder, which is lost with it, as there are handles of its nodes") {
        GraphBuilder b;
        const auto other = b.kernel({}, store, cell.data(), 9);
        const auto error = refused<CaptureError>([&] { b.capture(stream, spoil); });
        CHECK_THAT(error.what(), ContainsSubstring("the graph under construction is lost with it"));
        CHECK_THAT(refused<GraphError>([&] { b.kernel({}, nothing); }).what(), ContainsSubstring("was lost when"));
        CHECK_THROWS_AS(left_over.label(), GraphError);
        CHECK_THROWS_AS(other.label(), GraphError);
    }
    CHECK(is_usable(stream));
}

TEST_CASE("of nodes that are added, only those after none of the others come after what was captured before",
          "[capture][add]") {
    const Stream stream;
    const auto cell = device({3});
    std::vector<Node> added;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cell.data(), 1);
        c.add([&](GraphBuilder& b) {
            const auto last = b.kernel({}, add, cell.data(), cell.data(), 30);
            const auto first = b.kernel({}, add, cell.data(), cell.data(), 4);
            last.after(first); // in the other order
            added = {first, last};
        });
        launch(c.stream(), {}, add, cell.data(), cell.data(), 500);
    });
    const std::vector<Node> nodes = graph.nodes();
    REQUIRE(nodes.size() == 4);
    CHECK(graph.edges().size() == 3);
    CHECK(has_edge(graph, nodes.front(), added[0]));
    CHECK(has_edge(graph, added[0], added[1]));
    CHECK(has_edge(graph, added[1], nodes.back()));
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{535});
}

TEST_CASE("what was added to a capture whose end fails is refused from then on", "[capture][add]") {
    const Stream stream;
    const Stream side;
    const auto cell = device({0});
    StreamCapture c(stream);
    const auto node = c.kernel({}, store, cell.data(), 2);
    CHECK(node.label().empty());
    c.fork(side);
    launch(side, {}, store, cell.data(), 1);
    refused<CaptureError>([&] { static_cast<void>(std::move(c).finish()); }); // not joined
    CHECK_THROWS_AS(node.label(), GraphError);
    CHECK(is_usable(stream));
}

TEST_CASE("a body that throws spoils the capture that it is written into", "[capture][conditional][add]") {
    if (older_than(12040)) return;
    const Stream stream;
    const auto cell = device({0});
    const auto write_body = [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cell.data(), 1);
        const Condition condition = c.condition(1);
        c.if_(condition, [&](GraphBuilder& body) {
            body.kernel({}, store, cell.data(), 2);
            throw std::runtime_error("no");
        });
    };
    CHECK_THROWS_AS(capture(stream, write_body), std::runtime_error);
    CHECK(is_usable(stream));
    GraphBuilder b;
    b.kernel({}, store, cell.data(), 9);
    CHECK_THROWS_AS(b.capture(stream, write_body), std::runtime_error);
    CHECK_THROWS_AS(b.kernel({}, nothing), GraphError);
    CHECK(is_usable(stream));
}

TEST_CASE("a region that fails loses its builder only if nodes were written into it", "[capture][region][add]") {
    const Stream stream;
    const auto cell = device({0});
    for (const bool writes : {false, true}) {
        GraphBuilder b;
        b.kernel({}, store, cell.data(), 9);
        Node written;
        CHECK_THROWS_AS(b.capture(stream,
                                  [&](StreamCapture& c) {
                                      launch(c.stream(), {}, store, cell.data(), 1);
                                      if (writes) written = c.kernel({}, store, cell.data(), 2);
                                      static_cast<void>(c.condition(1));
                                      throw std::runtime_error("no");
                                  }),
                        std::runtime_error);
        CHECK(is_usable(stream));
        if (writes) {
            CHECK_THROWS_AS(written.label(), GraphError);
            CHECK_THROWS_AS(b.kernel({}, nothing), GraphError);
        } else {
            const Graph graph = std::move(b).build(); // the condition got a node
            CHECK(graph.node_count() == 2);
            Exec exec = graph.instantiate();
            run(exec, stream);
            CHECK(read(cell) == std::vector{9});
        }
    }
}

TEST_CASE("what is enqueued into a capture while nodes are added to it is refused", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.add([&](GraphBuilder& b) {
                b.kernel({}, store, cell.data(), 1);
                launch(c.stream(), {}, store, cell.data(), 2);
            });
        }));
    });
    CHECK_THAT(error.what(), ContainsSubstring("was enqueued into the capture while nodes were added"));
    CHECK(is_usable(stream));
}

TEST_CASE("streams are not joined to a capture while nodes are added to it", "[capture][add]") {
    const Stream stream;
    const Stream side;
    const auto cells = device({0, 0});
    StreamCapture c(stream);
    c.fork(side);
    launch(side, {}, store, cells.data(), 1);
    const auto error = refused<CaptureError>([&] {
        c.add([&](GraphBuilder& b) {
            b.kernel({}, store, cells.data() + 1, 2);
            c.join(side);
        });
    });
    CHECK_THAT(error.what(), ContainsSubstring("was enqueued into the capture while nodes were added"));
}

TEST_CASE("a capture takes nodes by one builder at a time, for the time of a call", "[capture][add]") {
    const Stream stream, other;
    const auto cell = device({0});
    std::optional<GraphBuilder> stray;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.add([&](GraphBuilder& b) {
            b.kernel({}, store, cell.data(), 1);
            const auto again = refused<CaptureError>([&] { c.kernel({}, nothing); });
            CHECK_THAT(again.what(), ContainsSubstring("being added to this capture already"));
            const auto inner = refused<GraphError>([&] { b.capture(other, [](cudaStream_t) {}); });
            CHECK_THAT(inner.what(), ContainsSubstring("another capture into this graph"));
            stray = std::move(b);
        });
        const auto late = refused<GraphError>([&] { stray->kernel({}, nothing); });
        CHECK_THAT(late.what(), ContainsSubstring("while a stream is captured into the graph"));
    });
    CHECK(graph.node_count() == 1);
    CHECK_THROWS_AS(stray->kernel({}, nothing), GraphError);
}

TEST_CASE("handles of nodes written into a capture that fails are dead", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    Node node;
    std::optional<GraphBuilder> stray;
    {
        StreamCapture c(stream);
        c.add([&](GraphBuilder& b) {
            node = b.kernel({}, store, cell.data(), 1);
            stray = std::move(b);
        });
        CHECK(node.kind() == NodeKind::kernel);
    }
    CHECK_THROWS_AS(node.kind(), GraphError);
    CHECK_THROWS_AS(stray->kernel({}, nothing), GraphError);
    CHECK(is_usable(stream));
}

TEST_CASE("a capture is checked at its end for what was written into it", "[capture][conditional][add]") {
    if (older_than(12040)) return;
    const Stream stream;
    const auto cell = device({0});
    Node node;
    const auto loop = refused<GraphError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            const Condition condition = c.condition(1);
            node = c.while_(condition, [&](GraphBuilder& body) { body.kernel({}, store, cell.data(), 1); });
        }));
    });
    CHECK_THROWS_AS(node.kind(), GraphError);
    CHECK(is_usable(stream));
    const auto unused = refused<GraphError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            static_cast<void>(c.condition(1));
            launch(c.stream(), {}, store, cell.data(), 1);
        }));
    });
    CHECK_THAT(unused.what(), ContainsSubstring("has no node"));
}

TEST_CASE("edges that close a cycle are refused where they are written into a capture", "[capture][add]") {
    const Stream stream;
    const auto cell = device({0});
    {
        StreamCapture c(stream);
        const auto first = c.kernel({}, store, cell.data(), 1);
        const auto write_cycle = [&] {
            c.add([&](GraphBuilder& b) {
                const auto second = b.kernel({}, store, cell.data(), 2);
                first.after(second);
            });
        };
        CHECK_THAT(refused<GraphError>(write_cycle).what(), ContainsSubstring("the edges close a cycle"));
        CHECK_THROWS_AS(first.label(), GraphError);
    }
    CHECK(is_usable(stream));
}

TEST_CASE("captures with written nodes update execs as a whole", "[capture][add]") {
    const Stream stream;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    const auto record = [&](int value) {
        return capture(stream, [&](StreamCapture& c) {
            launch(c.stream(), {}, store, x, value);
            c.add([&](GraphBuilder& b) {
                const auto left = b.kernel({}, add, x, x, value);
                b.kernel({}, add, x, x, value).after(left);
            });
            launch(c.stream(), {}, add, x + 1, x, value);
        });
    };
    Exec exec = record(1).instantiate();
    const cudag::UpdateReport report = exec.update(record(5));
    CHECK(report.updated());
    run(exec, stream);
    CHECK(read(cells) == std::vector{15, 20});
}

TEST_CASE("nodes are added to a capture that is under way until they are there", "[capture][add]") {
    const Stream stream;
    const auto end_elsewhere = [&] {
        cudaGraph_t graph = nullptr;
        cudag::check(cudaStreamEndCapture(stream.get(), &graph));
        return graph;
    };
    const auto require_named = [](const std::string& what, const auto& call) {
        const auto error = refused<CaptureError>(call);
        CHECK_THAT(error.what(),
                   ContainsSubstring(": add at ") && ContainsSubstring("capture_added.cpp") && ContainsSubstring(what));
    };
    SECTION("it has ended before") {
        StreamCapture c(stream);
        launch(stream, {}, nothing);
        cudaGraph_t const graph = end_elsewhere();
        require_named("the capture has ended", [&] { c.add([](GraphBuilder&) {}); });
        cudag::check(cudaGraphDestroy(graph));
    }
    SECTION("the function ends it") {
        cudaGraph_t graph = nullptr;
        {
            StreamCapture c(stream);
            launch(stream, {}, nothing);
            require_named("the capture has ended", [&] { c.add([&](GraphBuilder&) { graph = end_elsewhere(); }); });
        }
        cudag::check(cudaGraphDestroy(graph));
    }
    SECTION("it was broken before") {
        StreamCapture c(stream);
        launch(stream, {}, nothing);
        void* memory = nullptr;
        static_cast<void>(cudaMalloc(&memory, 16));
        static_cast<void>(cudaGetLastError());
        require_named("the capture was broken", [&] { c.add([](GraphBuilder&) {}); });
    }
}
