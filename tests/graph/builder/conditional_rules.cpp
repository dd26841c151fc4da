// What conditionals refuse, by name, and that nothing changes then.
#include <optional>
#include <stdexcept>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;
using cudag::Stream;

namespace {

constexpr auto empty_body = [](GraphBuilder&) {};

void check_refused(const char* text, CallRef<> call) {
    const auto error = refused<GraphError>(call);
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), StartsWith("cudag: ") && ContainsSubstring(text));
}

/// Adds a conditional whose body does `write`, and expects it to be refused; the builder must be good afterwards.
void check_refused_in_body(const char* text, CallRef<GraphBuilder&> write) {
    const auto cell = device({0});
    GraphBuilder b;
    const Condition condition = b.condition(1);
    check_refused(text, [&] { b.if_(condition, [&](GraphBuilder& body) { write(body); }); });
    b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, store, cell, 1); });
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{1});
}

} // namespace

TEST_CASE("a condition without a node is refused by build", "[conditional][rules]") {
    GraphBuilder b;
    const Condition condition = b.condition(1);
    check_refused("has no node", [&] { b.check(); });
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK_THAT(error.what(), ContainsSubstring("conditional_rules.cpp"));
    CHECK(error.location().line != 0);
    b.if_(condition, empty_body);
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a condition has one node", "[conditional][rules]") {
    GraphBuilder b;
    const Condition condition = b.condition(1);
    b.if_(condition, empty_body).label("first");
    check_refused("has a node already, if \"first\"", [&] { b.while_(condition, empty_body); });
    check_refused("has a node already",
                  [&] { b.if_(b.condition(1), [&](GraphBuilder& body) { body.if_(condition, empty_body); }); });
    static_cast<void>(b.condition(1));
}

TEST_CASE("a loop's condition is not that of a node inside of it", "[conditional][rules]") {
    GraphBuilder b;
    const Condition condition = b.condition(0);
    check_refused("has a node already, while",
                  [&] { b.while_(condition, [&](GraphBuilder& body) { body.if_(condition, empty_body); }); });
    b.while_(condition, empty_body);
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a condition of another graph is refused", "[conditional][rules]") {
    GraphBuilder other;
    const Condition foreign = other.condition(1);
    GraphBuilder b;
    const Condition own = b.condition(1);
    check_refused("the condition belongs to another graph", [&] { b.if_(foreign, empty_body); });
    check_refused("the condition belongs to another graph",
                  [&] { b.if_(own, [&](GraphBuilder& body) { body.kernel({}, set_condition, foreign, 1); }); });
    check_refused("argument 0: the condition belongs to another graph",
                  [&] { b.kernel({}, set_condition, foreign, 1); });
    const auto kernel = b.kernel({}, set_condition, own, 1);
    b.if_(own, empty_body).after(kernel);
    Exec exec = std::move(b).build().instantiate();
    const auto error = refused<cudag::UpdateError>([&] { exec.update(kernel, foreign, 1); });
    CHECK_THAT(error.what(), ContainsSubstring("update of kernel") && ContainsSubstring("another graph"));
    exec.update(kernel, own, 0);
}

TEST_CASE("a condition whose graph is gone is refused", "[conditional][rules]") {
    std::optional<GraphBuilder> other(std::in_place);
    const Condition gone = other->condition(1);
    other.reset();
    GraphBuilder b;
    check_refused("no longer exists", [&] { b.if_(gone, empty_body); });
    check_refused("no longer exists", [&] { b.kernel({}, set_condition, gone, 1); });
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a switch without bodies is refused", "[conditional][rules]") {
    if (older_than(12080)) return;
    GraphBuilder b;
    const Condition choice = b.condition(0);
    check_refused("it has no body", [&] { b.switch_(choice, {}); });
    b.switch_(choice, {empty_body});
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a host node is refused in a body", "[conditional][rules]") {
    check_refused_in_body("CUDA allows no host node in the body of if", [](GraphBuilder& body) { body.host([] {}); });
}

TEST_CASE("a copy of pageable memory is refused in a body", "[conditional][rules]") {
    const DeviceBuffer<int> cell(1);
    std::vector<int> host(1);
    check_refused_in_body("not page-locked", [&](GraphBuilder& body) { body.memcpy(cell, host); });
    check_refused_in_body("not page-locked", [&](GraphBuilder& body) { body.memcpy(host, cell); });
}

TEST_CASE("a copy of an array is refused in a body", "[conditional][rules]") {
    const DeviceBuffer<int> cells(4);
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    cudaArray_t array = nullptr;
    cudag::check(cudaMallocArray(&array, &ints, 2, 2));
    check_refused_in_body("it copies an array", [&](GraphBuilder& body) {
        body.memcpy2d(cudag::ArraySpan<int>(array), cudag::DeviceSpan2D<int>(cells, 2, 2));
    });
    CHECK(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("a cycle in a body is refused when the body ends", "[conditional][rules]") {
    check_refused_in_body("the edges close a cycle", [](GraphBuilder& body) {
        const auto one = body.kernel({}, nothing).label("one");
        const auto two = body.kernel({}, nothing).after(one);
        one.after(two);
    });
}

TEST_CASE("nodes of a body do not come after nodes outside of it", "[conditional][rules][edges]") {
    GraphBuilder b;
    const Condition condition = b.condition(1);
    const auto outside = b.kernel({}, nothing).label("outside");
    check_refused("the node is in the graph itself, and is used in the body of if",
                  [&] { b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, nothing).after(outside); }); });
    Node inside;
    b.if_(condition, [&](GraphBuilder& body) { inside = body.kernel({}, nothing).label("inside"); }).label("branch");
    check_refused("the node is in the body of if \"branch\"", [&] { outside.after(inside); });
    check_refused("the node is in the body of if \"branch\"", [&] { b.join(inside); });
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 0);
}

TEST_CASE("the outer builder takes no nodes while a body is written", "[conditional][rules]") {
    GraphBuilder b;
    const Condition condition = b.condition(0);
    const Condition other = b.condition(1);
    const auto check = [&](auto&& call) {
        check_refused("use the body's builder", [&] { b.while_(condition, [&](GraphBuilder&) { call(); }); });
    };
    check([&] { b.kernel({}, nothing); });
    check([&] { b.host([] {}); });
    check([&] { b.if_(other, empty_body); });
    check([&] { b.child(GraphBuilder().build()); });
    check_refused("is being written",
                  [&] { b.while_(condition, [&](GraphBuilder&) { static_cast<void>(std::move(b).build()); }); });
    check_refused("another one builds", [&] {
        b.while_(condition, [&](GraphBuilder& body) { static_cast<void>(std::move(body).build()); });
    });
    b.while_(condition, empty_body);
    b.if_(other, empty_body);
    CHECK(std::move(b).build().node_count() == 2);
}

TEST_CASE("a body takes no nodes after it has ended", "[conditional][rules]") {
    GraphBuilder b;
    GraphBuilder kept;
    std::optional<cudag::KernelNode<>> inside;
    const auto loop = b.while_(b.condition(0), [&](GraphBuilder& body) {
                           inside = body.kernel({}, nothing);
                           kept = std::move(body);
                       }).label("loop");
    check_refused("the body of while \"loop\"", [&] { kept.kernel({}, nothing); });
    check_refused("the body that it is in has ended", [&] { inside->after(*inside); });
    check_refused("is finished", [&] { static_cast<void>(kept.condition(1)); });
    const Graph graph = std::move(b).build();
    check_refused("has ended", [&] { kept.kernel({}, nothing); });
    CHECK(loop.body().node_count() == 1);
}

TEST_CASE("the builder of a body may outlive the graph", "[conditional][rules]") {
    GraphBuilder kept;
    std::optional<Graph> graph;
    {
        GraphBuilder b;
        b.if_(b.condition(1), [&](GraphBuilder& body) { kept = std::move(body); });
        graph = std::move(b).build();
    }
    graph.reset();
    check_refused("no longer exists", [&] { kept.kernel({}, nothing); });
}

TEST_CASE("what a body throws leaves the builder as it was", "[conditional][rules]") {
    if (older_than(12080)) return;
    const auto cells = device({3, 0});
    GraphBuilder b;
    const Condition more = b.condition(1);
    const auto before = b.kernel({}, store, cells.data() + 1, 1);
    GraphBuilder kept;
    Node inside;
    CHECK_THROWS_AS(b.while_(more,
                             [&](GraphBuilder& body) {
                                 inside = body.kernel({}, nothing);
                                 body.while_(body.condition(1), empty_body);
                                 kept = std::move(body);
                                 throw std::runtime_error("no");
                             }),
                    std::runtime_error);
    check_refused("a body that has thrown", [&] { kept.kernel({}, nothing); });
    check_refused("no longer exists", [&] { static_cast<void>(inside.label()); });

    b.while_(more, [&](GraphBuilder& body) {
         const auto step = body.kernel({}, add, cells.data() + 1, cells.data() + 1, 10);
         const auto inner = body.if_(body.condition(1), empty_body); // as in the body that threw
         body.kernel({}, count_down, cells, more).after(step, inner);
     }).after(before);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 2);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 31});
}

TEST_CASE("a second body that throws takes the first one with it", "[conditional][rules]") {
    if (older_than(12080)) return;
    GraphBuilder b;
    const Condition condition = b.condition(1);
    CHECK_THROWS_AS(
        b.if_(
            condition, [](GraphBuilder& body) { body.kernel({}, nothing); }, [](GraphBuilder&) { throw 5; }),
        int);
    b.if_(condition, empty_body);
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
}

TEST_CASE("a condition that a body made before it threw does not spoil the graph", "[conditional][rules]") {
    const auto cell = device({0});
    GraphBuilder b;
    std::optional<Condition> left;
    const Condition outer = b.condition(1);
    CHECK_THROWS_AS(b.if_(outer,
                          [&](GraphBuilder& body) {
                              left = body.condition(1);
                              throw std::runtime_error("no");
                          }),
                    std::runtime_error);
    check_refused("made in a body that has thrown", [&] { b.if_(*left, empty_body); });
    b.if_(outer, [&](GraphBuilder& body) { body.kernel({}, store, cell, 1); });
    const Graph graph = std::move(b).build();
    CHECK(graph.find("left over by a body that threw").size() == 1);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("a body that throws beside memory nodes spoils the graph, which build says", "[conditional][rules]") {
    GraphBuilder b;
    const auto memory = b.alloc<int>(1);
    b.free(memory).after(memory);
    const Condition condition = b.condition(1);
    CHECK_THROWS_AS(b.if_(condition, [](GraphBuilder&) { throw 5; }), int);
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK_THAT(error.what(), ContainsSubstring("could not be removed") && ContainsSubstring("write the graph again"));
}

TEST_CASE("a body may move the builder around it away", "[conditional][rules]") {
    const auto cell = device({0});
    GraphBuilder b;
    GraphBuilder moved;
    b.if_(b.condition(1), [&](GraphBuilder& body) {
        moved = std::move(b);
        body.kernel({}, store, cell, 1);
    });
    run(std::move(moved));
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("a graph with conditionals is no child", "[conditional][rules]") {
    GraphBuilder b;
    b.while_(b.condition(0), empty_body).label("loop");
    Graph graph = std::move(b).build();
    GraphBuilder outer;
    const auto check = [&](const char* text, auto&& call) {
        const auto error = refused<GraphError>(call);
        CHECK(error.code() == cuda_code(cudaErrorNotSupported));
        CHECK_THAT(error.what(), ContainsSubstring("while \"loop\"") && ContainsSubstring(text));
    };
    check("no conditionals in a child graph: write them into the outer graph, as inline_graph(graph) does",
          [&] { outer.child(graph); });
    check("no conditionals in a child graph", [&] { outer.child(std::move(graph)); });
    CHECK(graph.node_count() == 1);
    CHECK(std::move(outer).build().node_count() == 0);
}

TEST_CASE("a body is not a graph of its own", "[conditional][rules]") {
    GraphBuilder b;
    const auto loop = b.while_(b.condition(0), empty_body).label("loop");
    const Graph graph = std::move(b).build();
    GraphBuilder outer;
    check_refused("inside while \"loop\"", [&] { static_cast<void>(loop.body().instantiate()); });
    check_refused("inside while \"loop\"", [&] { static_cast<void>(loop.body().clone()); });
    check_refused("inside while \"loop\"", [&] { outer.child(loop.body()); });
}

TEST_CASE("a child graph in a body has no nodes that bodies do not take", "[conditional][child][rules]") {
    if (older_than(12090)) return;
    const DeviceBuffer<int> cell(1);
    std::vector<int> host(1);
    const auto check = [&](const char* text, auto&& write) {
        GraphBuilder inner;
        write(inner);
        const Graph graph = std::move(inner).build();
        GraphBuilder b;
        const Condition condition = b.condition(1);
        const auto error =
            refused<GraphError>([&] { b.if_(condition, [&](GraphBuilder& body) { body.child(graph); }); });
        CHECK(error.code() == cuda_code(cudaErrorNotSupported));
        CHECK_THAT(error.what(), ContainsSubstring("\"inner\"") && ContainsSubstring(text));
    };
    check("CUDA allows no host node in the body of if", [](GraphBuilder& g) { g.host([] {}).label("inner"); });
    check("page-locked", [&](GraphBuilder& g) { g.memcpy(cell, host).label("inner"); });
    check("CUDA allows no host node", [](GraphBuilder& g) {
        GraphBuilder deeper;
        deeper.host([] {}).label("inner");
        g.child(std::move(deeper).build());
    });
}
