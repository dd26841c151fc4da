// Conditionals inside the bodies of conditionals.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Node;
using cudag::Stream;

TEST_CASE("an inner while starts anew in each turn of the outer one", "[conditional][nested]") {
    if (older_than(12080)) return;
    const auto cells = device({4, 0, 0}); // outer turns, inner turns, count
    int* const outer_turns = cells.data();
    int* const inner_turns = cells.data() + 1;
    int* const count = cells.data() + 2;
    GraphBuilder b;
    const Condition outer = b.condition(1);
    b.while_(outer, [&](GraphBuilder& body) {
        const Condition inner = body.condition(1);
        const auto again = body.kernel({}, store, inner_turns, 3);
        const auto loop = body.while_(inner,
                                      [&](GraphBuilder& inner_body) {
                                          const auto step = inner_body.kernel({}, add, count, count, 1);
                                          inner_body.kernel({}, count_down, inner_turns, inner).after(step);
                                      })
                              .after(again);
        body.kernel({}, count_down, outer_turns, outer).after(loop);
    });
    run(std::move(b));
    CHECK(read(cells) == std::vector{0, 0, 12});
}

TEST_CASE("the outer builder can make the condition of an inner conditional", "[conditional][nested]") {
    if (older_than(12080)) return;
    const auto cells = device({3, 0});
    GraphBuilder b;
    const Condition outer = b.condition(1);
    const Condition inner = b.condition(1);
    b.while_(outer, [&](GraphBuilder& body) {
        const auto branch = body.if_(inner, [&](GraphBuilder& then) {
            const auto step = then.kernel({}, add, cells.data() + 1, cells.data() + 1, 1);
            then.kernel({}, set_condition, inner, 0).after(step);
        });
        body.kernel({}, count_down, cells, outer).after(branch);
    });
    run(std::move(b));
    CHECK(read(cells) == std::vector{0, 3});
}

TEST_CASE("what a kernel of the repeated body sets wins over the initial value", "[conditional][nested]") {
    if (older_than(12080)) return;
    const auto cells = device({3, 0});
    GraphBuilder b;
    const Condition outer = b.condition(1);
    b.while_(outer, [&](GraphBuilder& body) {
        const Condition inner = body.condition(1);
        const auto set = body.kernel({}, set_condition, inner, 0);
        const auto branch =
            body.if_(inner, [&](GraphBuilder& then) { then.kernel({}, add, cells.data() + 1, cells.data() + 1, 1); })
                .after(set);
        body.kernel({}, count_down, cells, outer).after(branch);
    });
    run(std::move(b));
    CHECK(read(cells) == std::vector{0, 0});
}

TEST_CASE("a condition without an initial value keeps what was set in the turn before", "[conditional][nested]") {
    const auto cells = device({3, 0});
    GraphBuilder b;
    const Condition outer = b.condition(1);
    const Condition inner = b.condition();
    const auto start = b.kernel({}, set_condition, inner, 1);
    b.while_(outer, [&](GraphBuilder& body) {
         const auto branch = body.if_(inner, [&](GraphBuilder& then) {
             const auto step = then.kernel({}, add, cells.data() + 1, cells.data() + 1, 1);
             then.kernel({}, set_condition, inner, 0).after(step);
         });
         body.kernel({}, count_down, cells, outer).after(branch);
     }).after(start);
    run(std::move(b));
    CHECK(read(cells) == std::vector{0, 1});
}

TEST_CASE("a repeated body has one node more for each condition with an initial value", "[conditional][nested]") {
    if (older_than(12080)) return;
    const DeviceBuffer<int> cell(1), other(1);
    GraphBuilder b;
    const Condition outer = b.condition(1);
    Node first;
    Node inner_node;
    Node count;
    const auto loop = b.while_(outer, [&](GraphBuilder& body) {
        first = body.memset(other, 0);
        inner_node = body.if_(body.condition(1), [](GraphBuilder&) {}).label("inner").after(first);
        count = body.kernel({}, count_down, cell, outer);
    });
    const Graph graph = std::move(b).build();
    const Graph body = loop.body();
    REQUIRE(body.node_count() == 5); // the last one ends a turn
    CHECK(body.nodes()[0] == first);
    const Node reset = body.nodes()[3];
    CHECK(reset.label() == "reset of inner");
    CHECK(reset.kind() == cudag::NodeKind::kernel);
    CHECK(body.edges() ==
          std::vector<cudag::Edge>{{first, inner_node}, {reset, first}, {reset, count}, {count, body.nodes()[4]}});
    CHECK(native_edges(body.native()).size() == 4);
    CHECK_THAT(graph.dot(), ContainsSubstring("reset of inner"));
}

TEST_CASE("a body that runs once has no node but those that it was given", "[conditional][nested]") {
    GraphBuilder b;
    const auto branch =
        b.if_(b.condition(1), [&](GraphBuilder& body) { body.while_(body.condition(0), [](GraphBuilder&) {}); });
    const Graph graph = std::move(b).build();
    CHECK(branch.body().node_count() == 1);
}

TEST_CASE("an if inside a switch inside a while starts anew in each turn", "[conditional][nested]") {
    if (older_than(12080)) return;
    const auto cells = device({5, 0});
    int* const count = cells.data() + 1;
    GraphBuilder b;
    const Condition more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) {
        const Condition parity = body.condition(1);
        const auto choose = body.switch_(parity, {[](GraphBuilder&) {},
                                                  [&](GraphBuilder& second) {
                                                      const Condition once = second.condition(1);
                                                      second.if_(once, [&](GraphBuilder& then) {
                                                          const auto step = then.kernel({}, add, count, count, 2);
                                                          then.kernel({}, set_condition, once, 0).after(step);
                                                          then.kernel({}, set_condition, parity, 0).after(step);
                                                      });
                                                  }});
        body.kernel({}, count_down, cells, more).after(choose);
    });
    run(std::move(b));
    CHECK(read(cells) == std::vector{0, 10});
}

TEST_CASE("bodies nest deep", "[conditional][nested]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto nest = [&](const auto& self, GraphBuilder& builder, int depth) -> void {
        if (depth == 0) {
            builder.kernel({}, store, cell, 8);
            return;
        }
        builder.if_(builder.condition(1), [&](GraphBuilder& body) { self(self, body, depth - 1); });
    };
    nest(nest, b, 6);
    const Graph graph = std::move(b).build();
    const auto found = graph.find(store);
    REQUIRE(found.size() == 1);
    Exec exec = graph.instantiate();
    exec.update(found[0], cell, 9);
    run(exec, Stream());
    CHECK(read(cell) == std::vector{9});
}
