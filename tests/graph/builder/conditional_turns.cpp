// What cudag lets come after the kernels that set the conditions of loops, because the driver needs it.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"
#include <utility>

using cudag::Condition;
using cudag::Edge;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Node;
using cudag::NodeKind;

namespace {

/// A loop of `cell` turns whose setter is the last in its body.
cudag::WhileNode add_loop(GraphBuilder& b, int* cell) {
    const Condition condition = b.condition(1);
    return b.while_(condition, [&](GraphBuilder& body) { body.kernel({}, count_down, cell, condition); });
}

constexpr std::size_t rungs = 40;
/// Pairs of joins, each after both of the pair before it: 2^40 ways lead from `first` to the last pair.
std::pair<Node, Node> add_ladder(GraphBuilder& b, const Node& first) {
    Node left = b.join(first), right = b.join(first);
    for (std::size_t i = 1; i < rungs; ++i) {
        const Node next = b.join(left, right);
        right = b.join(left, right);
        left = next;
    }
    return {left, right};
}

void check_ended(const Graph& body, const Node& setter) {
    const Node last = body.nodes().back();
    CHECK(last.kind() == NodeKind::kernel);
    CHECK(last.label() == "end of a turn");
    const std::vector<Edge> edges = body.edges();
    CHECK(std::count(edges.begin(), edges.end(), Edge{setter, last}) == 1);
    CHECK_FALSE(native_edges(body.native()).empty());
}

} // namespace

TEST_CASE("beside other conditionals, a kernel ends each turn of a loop that a setter would end",
          "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cells = device({3, 4});
    GraphBuilder b;
    const auto first = add_loop(b, cells.data());
    const auto second = add_loop(b, cells.data() + 1);
    const Graph graph = std::move(b).build();
    for (const auto& loop : {first, second}) {
        CHECK(loop.body().node_count() == 2);
        check_ended(loop.body(), loop.body().nodes()[0]);
    }
    CHECK(graph.node_count() == 2);
    CHECK_THAT(graph.dot(), ContainsSubstring("cudag_nothing"));
    auto exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(cells) == std::vector{0, 0});
}

TEST_CASE("an if beside a loop is another conditional", "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cell = device({3});
    GraphBuilder b;
    const auto loop = add_loop(b, cell.data());
    b.if_(b.condition(1), [](GraphBuilder&) {});
    const Graph graph = std::move(b).build();
    check_ended(loop.body(), loop.body().nodes()[0]);
}

TEST_CASE("a graph's only conditional has the nodes that were written", "[conditional][turns]") {
    const auto cell = device({3});
    GraphBuilder b;
    const auto loop = add_loop(b, cell.data());
    const Graph graph = std::move(b).build();
    CHECK(loop.body().node_count() == 1);
}

TEST_CASE("a turn that something else ends stays what it is, an empty node does not count", "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cells = device({1, 1, 1, 0});
    int* const out = cells.data() + 3;
    GraphBuilder b;
    const auto plain = add_loop(b, cells.data());
    const Condition ended = b.condition(1);
    const auto with_kernel = b.while_(ended, [&](GraphBuilder& body) {
        const auto setter = body.kernel({}, count_down, cells.data() + 1, ended);
        const auto join = body.join(setter);
        body.kernel({}, store, out, 1).after(join);
    });
    const Condition joined = b.condition(1);
    const auto with_join = b.while_(joined, [&](GraphBuilder& body) {
        const auto setter = body.kernel({}, count_down, cells.data() + 2, joined);
        const auto other = body.kernel({}, store, out, 1);
        body.join(setter, other);
    });
    const Graph graph = std::move(b).build();
    CHECK(plain.body().node_count() == 2);
    CHECK(with_kernel.body().node_count() == 3);
    CHECK(with_join.body().node_count() == 4);
    check_ended(with_join.body(), with_join.body().nodes()[0]);
}

TEST_CASE("each of the joins after a setter is looked at once, however many ways lead there", "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cells = device({1, 1});
    GraphBuilder b;
    add_loop(b, cells.data());
    const Condition more = b.condition(1);
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        const auto setter = body.kernel({}, count_down, cells.data() + 1, more);
        add_ladder(body, setter);
    });
    const Graph graph = std::move(b).build();
    CHECK(loop.body().node_count() == 1 + 2 * rungs + 1);
    check_ended(loop.body(), loop.body().nodes()[0]);
}

TEST_CASE("a setter inside another body, and a kernel that may be one, are followed, too", "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cells = device({2, 2, 2});
    const cudag::Stream stream;
    GraphBuilder b;
    const Condition outer = b.condition(1);
    cudag::IfNode branch;
    const auto nested = b.while_(outer, [&](GraphBuilder& body) {
        branch =
            body.if_(body.condition(1), [&](GraphBuilder& then) { then.kernel({}, count_down, cells.data(), outer); });
    });
    const Condition raw = b.condition(1);
    const auto captured = b.while_(raw, [&](GraphBuilder& body) {
        body.capture(stream, [&](cudaStream_t s) {
            int* cell = cells.data() + 1;
            Condition condition = raw;
            void* arguments[] = {&cell, &condition};
            cudag::check(
                cudaLaunchKernel(reinterpret_cast<const void*>(&count_down), dim3(1), dim3(1), arguments, 0, s));
        });
    });
    const Graph graph = std::move(b).build();
    check_ended(branch.body(), branch.body().nodes()[0]);
    CHECK(nested.body().nodes().back().label() == "reset of if node 0");
    CHECK(captured.body().node_count() == 2);
    check_ended(captured.body(), captured.body().nodes()[0]);
    auto exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 0, 2});
}

TEST_CASE("a kernel whose arguments hold no condition is no setter", "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cells = device({1, 1});
    const cudag::DeviceBuffer<std::uint32_t> hashes(1);
    GraphBuilder b;
    add_loop(b, cells.data());
    const Condition more = b.condition(1);
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        body.kernel({}, mix, hashes, 0U, Inputs{}, 1U);
        body.kernel({}, count_down, cells.data() + 1, more);
    });
    const Graph graph = std::move(b).build();
    CHECK(loop.body().node_count() == 3);
    check_ended(loop.body(), loop.body().nodes()[1]);
}

TEST_CASE("each of the joins before a kernel is looked at once, of many ways", "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cells = device({1, 1});
    GraphBuilder b;
    add_loop(b, cells.data());
    const Condition more = b.condition(1);
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        const auto setter = body.kernel({}, count_down, cells.data() + 1, more);
        const auto [left, right] = add_ladder(body, setter);
        body.kernel({}, nothing).after(left, right);
    });
    const Graph graph = std::move(b).build();
    CHECK(loop.body().node_count() == 1 + 2 * rungs + 1);
}

TEST_CASE("many conditionals of a repeated body are reset by way of one of their kernels", "[conditional][turns]") {
    if (older_than(12080)) return;
    const auto cell = device({1});
    const auto edges_with = [&](std::size_t conditionals, std::size_t others) {
        GraphBuilder b(cudag::BuilderOptions{.races = cudag::Races::allowed});
        const Condition more = b.condition(1);
        const auto loop = b.while_(more, [&](GraphBuilder& body) {
            for (std::size_t i = 0; i < conditionals; ++i)
                body.if_(body.condition(0), [](GraphBuilder&) {});
            for (std::size_t i = 0; i < others; ++i)
                body.kernel({}, count_down, cell.data(), more);
        });
        return loop.body().edge_count();
    };
    CHECK(edges_with(1, 80) == 81);
    CHECK(edges_with(2, 2) == 2 * 4);
    CHECK(edges_with(4, 12) == 4 * 16); // as many as are few
    CHECK(edges_with(4, 13) == 3 + 17); // all meet in the last one
    CHECK(edges_with(8, 0) == 8 * 8);
    CHECK(edges_with(9, 0) == 8 + 9);
}
