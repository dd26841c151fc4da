// The shapes that the benchmarks measure, and the tests of plans use: that they are what their names say.
#include "bench/shapes.hpp"

#include "catch.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

using bench::Between;
using bench::Shape;
using Node = Shape::Node;
using Pairs = std::vector<std::pair<Node, Node>>;

namespace {

std::vector<Node> predecessors(const Shape& shape, Node node) {
    const auto list = shape.predecessors(node);
    return {list.begin(), list.end()};
}

/// By node: which nodes it comes after, directly or not.
std::vector<std::vector<bool>> ancestors(const Shape& shape) {
    std::vector<std::vector<bool>> before(shape.size(), std::vector<bool>(shape.size()));
    for (Node node = 0; node < shape.size(); ++node)
        for (const Node from : shape.predecessors(node)) {
            before[node][from] = true;
            for (Node other = 0; other < from; ++other)
                if (before[from][other]) before[node][other] = true;
        }
    return before;
}

/// Which kernels come before which others, kernels numbered as if there were no barriers.
Pairs order_of_kernels(const Shape& shape) {
    const std::vector<std::vector<bool>> before = ancestors(shape);
    std::vector<Node> kernels;
    for (Node node = 0; node < shape.size(); ++node)
        if (!shape.is_barrier(node)) kernels.push_back(node);
    Pairs order;
    for (Node to = 0; to < kernels.size(); ++to)
        for (Node from = 0; from < to; ++from)
            if (before[kernels[to]][kernels[from]]) order.emplace_back(from, to);
    return order;
}

std::vector<Node> roots(const Shape& shape) {
    std::vector<Node> found;
    for (Node node = 0; node < shape.size(); ++node)
        if (shape.predecessors(node).empty()) found.push_back(node);
    return found;
}

std::vector<Node> leaves(const Shape& shape) {
    std::set<Node> has_successor;
    for (const Shape::Edge& edge : shape.edges())
        has_successor.insert(edge.from);
    std::vector<Node> found;
    for (Node node = 0; node < shape.size(); ++node)
        if (!has_successor.contains(node)) found.push_back(node);
    return found;
}

struct Numbers {
    std::string name;
    std::size_t nodes;
    std::size_t barriers;
    std::size_t edges;
};

} // namespace

TEST_CASE("edges of a shape lead forward, each there once, at any scale") {
    for (const double scale : {0.0, 0.1, 1.0})
        for (const Shape& shape : bench::all_shapes(scale)) {
            INFO(shape.name() << " at " << scale);
            CHECK(shape.size() >= 2);
            CHECK(shape.edges().size() == shape.edge_count());
            std::set<std::pair<Node, Node>> seen;
            bool good = true;
            for (const Shape::Edge& edge : shape.edges())
                good = good && edge.from < edge.to && seen.emplace(edge.from, edge.to).second;
            CHECK(good);
        }
}

TEST_CASE("the shapes that are measured have the numbers of nodes, barriers and edges that are told of them") {
    const std::vector<Numbers> expected{
        {"line 1000", 1000, 0, 999},
        {"line 1000, each after 2", 1000, 0, 1997},
        {"line 1000, each after 8", 1000, 0, 7964},
        {"line 1000, each after 32", 1000, 0, 31'472},
        {"layers 10x100, direct", 1000, 0, 90'000},
        {"layers 100x10, direct", 1000, 0, 9900},
        {"layers 250x4, direct", 1000, 0, 3984},
        {"layers 32x32, direct", 1024, 0, 31'744},
        {"layers 10x100, joined", 1009, 9, 1800},
        {"layers 100x10, joined", 1099, 99, 1980},
        {"layers 250x4, joined", 1249, 249, 1992},
        {"layers 32x32, joined", 1055, 31, 1984},
        {"batches 50x8", 450, 50, 792},
        {"batches 50x32", 1650, 50, 3168},
        {"when_all 100x3", 401, 101, 600},
        {"chains 100x10", 1000, 0, 900},
        {"chains 16x60", 960, 0, 944},
        {"fork-join tree, 2^8", 766, 0, 1020},
        {"wavefront 32x32", 1024, 0, 2945},
        {"stencil 32x32", 1024, 0, 2914},
        {"reduction of 512 by 2", 1023, 0, 1022},
        {"decoder 32, line", 677, 0, 676},
        {"decoder 32, forks", 677, 0, 740},
    };
    const std::vector<Shape> shapes = bench::all_shapes();
    for (const Numbers& numbers : expected) {
        INFO(numbers.name);
        const auto shape = std::find_if(shapes.begin(), shapes.end(),
                                        [&](const Shape& candidate) { return candidate.name() == numbers.name; });
        REQUIRE(shape != shapes.end());
        CHECK(shape->size() == numbers.nodes);
        CHECK(shape->barrier_count() == numbers.barriers);
        CHECK(shape->edge_count() == numbers.edges);
    }
    std::set<std::string> names;
    for (const Shape& shape : shapes)
        CHECK(names.insert(shape.name()).second);
    CHECK(shapes.size() == expected.size() + 3); // random ones
}

TEST_CASE("the redundant edges of a line are implied by it") {
    CHECK(bench::redundant_line(40, 1).edges() == bench::line(40).edges());
    for (const unsigned predecessors : {2U, 8U, 100U})
        CHECK(order_of_kernels(bench::redundant_line(40, predecessors)) == order_of_kernels(bench::line(40)));
}

TEST_CASE("equal seeds give equal random shapes, others do not, and none has more predecessors than it may") {
    CHECK(bench::random_dag(50, 6, 3) == bench::random_dag(50, 6, 3));
    CHECK_FALSE(bench::random_dag(50, 6, 3).edges() == bench::random_dag(50, 6, 4).edges());
    CHECK(bench::all_shapes(0.2) == bench::all_shapes(0.2));
    std::size_t most = 0;
    const Shape shape = bench::random_dag(200, 6, 1);
    for (Node node = 0; node < shape.size(); ++node)
        most = std::max(most, shape.predecessors(node).size());
    CHECK(most == 6);
    CHECK(bench::random_dag(4, 100, 1).edge_count() <= 6);
    // Known numbers, as they come out with every standard library.
    CHECK(bench::random_dag(500, 6, 1).edge_count() == 1459);
}

TEST_CASE("layers are in the same order with barriers as with edges, of one width or of many") {
    CHECK(order_of_kernels(bench::layers(4, 5, Between::edges)) ==
          order_of_kernels(bench::layers(4, 5, Between::barriers)));
    const std::vector<unsigned> widths{3, 1, 4, 2};
    const Shape direct = bench::layers(widths, Between::edges);
    CHECK(direct.size() == 10);
    CHECK(direct.edge_count() == 3 + 4 + 8);
    CHECK(order_of_kernels(direct) == order_of_kernels(bench::layers(widths, Between::barriers)));
    CHECK(bench::layers({}, Between::edges).size() == 0);
}

TEST_CASE("a command buffer ends with the barrier of its last batch, and a chain of when_all also begins with a root") {
    const Shape batches = bench::batches(3, 4);
    CHECK(roots(batches).size() == 4);
    CHECK(leaves(batches) == std::vector<Node>{14});
    CHECK(batches.is_barrier(14));
    CHECK(order_of_kernels(batches) == order_of_kernels(bench::layers(3, 4, Between::edges)));

    const Shape chain = bench::when_all_chain(3, 4);
    CHECK(roots(chain) == std::vector<Node>{0});
    CHECK(leaves(chain) == std::vector<Node>{15});
    CHECK(chain.is_barrier(0));
    CHECK(chain.is_barrier(15));
    CHECK(order_of_kernels(chain) == order_of_kernels(batches));
}

TEST_CASE("chains have nothing to do with each other") {
    const Shape shape = bench::chains(3, 4);
    for (const auto& [from, to] : order_of_kernels(shape))
        CHECK(from / 4 == to / 4);
    CHECK(order_of_kernels(shape).size() == 3 * 6);
}

TEST_CASE("a tree forks from one node and joins in one") {
    const Shape shape = bench::fork_join_tree(2, 3);
    CHECK(shape.size() == 1 + 3 + 9 + 3 + 1);
    CHECK(roots(shape) == std::vector<Node>{0});
    CHECK(leaves(shape) == std::vector<Node>{16});
    CHECK(predecessors(shape, 7) == std::vector<Node>{2});
    CHECK(predecessors(shape, 14) == std::vector<Node>{7, 8, 9});
    CHECK(predecessors(shape, 16) == std::vector<Node>{13, 14, 15});
}

TEST_CASE("a reduction takes what is left where its leaves are no power of its fan-in") {
    const Shape shape = bench::reduction_tree(7, 3);
    CHECK(shape.size() == 7 + 3 + 1);
    CHECK(predecessors(shape, 9) == std::vector<Node>{6});
    CHECK(leaves(shape) == std::vector<Node>{10});
}

TEST_CASE("cells of a wavefront and of a stencil come after their neighbours") {
    CHECK(predecessors(bench::wavefront(3, 4), 5) == std::vector<Node>{1, 4, 0});
    CHECK(predecessors(bench::wavefront(3, 4), 4) == std::vector<Node>{0});
    CHECK(predecessors(bench::stencil(3, 4), 5) == std::vector<Node>{0, 1, 2});
    CHECK(predecessors(bench::stencil(3, 4), 4) == std::vector<Node>{0, 1});
    CHECK(predecessors(bench::stencil(3, 4), 7) == std::vector<Node>{2, 3});
}

TEST_CASE("a layer of the decoder forks after its first kernel, and its forks meet at the eleventh") {
    const Shape line = bench::decoder(2);
    CHECK(line.edges() == bench::line(47).edges());
    const Shape forks = bench::forked_decoder(2);
    const auto layer_1 = [&](Node kernel) { return predecessors(forks, 21 + kernel); }; // kernels count from 1
    const auto in_layer = [](std::vector<Node> kernels) {
        for (Node& kernel : kernels)
            kernel += 21;
        return kernels;
    };
    CHECK(layer_1(1) == in_layer({0}));
    for (const auto& [kernel, before] : Pairs{{2, 1}, {3, 2}, {4, 1}, {5, 4}, {6, 1}, {7, 6}, {8, 3}, {9, 5}, {10, 7}})
        CHECK(layer_1(kernel) == in_layer({before}));
    CHECK(layer_1(11) == in_layer({8, 9, 10}));
    CHECK(layer_1(12) == in_layer({11}));
    CHECK(leaves(forks) == std::vector<Node>{46});
}
