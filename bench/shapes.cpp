// The generators of shapes.
#include "shapes.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>

namespace bench {

namespace {

using Node = Shape::Node;
using Nodes = Shape::Nodes;

std::string by(unsigned a, unsigned b) {
    return std::to_string(a) + "x" + std::to_string(b);
}

/// `width` kernels after `before`.
Nodes kernels(Shape& shape, unsigned width, const Nodes& before) {
    Nodes made;
    for (unsigned i = 0; i < width; ++i)
        made.push_back(shape.kernel(before));
    return made;
}

/// A line after `before`; what comes after that line comes after what this returns.
Nodes kernels_in_line(Shape& shape, unsigned length, Nodes before) {
    for (unsigned i = 0; i < length; ++i)
        before = {shape.kernel(before)};
    return before;
}

/// Kernels 2 to 10 of a layer; what 11 comes after.
Nodes projections_in_line(Shape& shape, const Nodes& norm) {
    return kernels_in_line(shape, 9, norm);
}

Nodes forked_projections(Shape& shape, const Nodes& norm) {
    Nodes heads;
    for (int i = 0; i < 3; ++i)
        heads.push_back(kernels_in_line(shape, 2, norm).front());
    for (Node& head : heads)
        head = shape.kernel({head});
    return heads;
}

Shape decoder_of(std::string name, unsigned layers, Nodes (*projections)(Shape&, const Nodes&)) {
    Shape shape(Family::decoder, std::move(name));
    Nodes last{shape.kernel()};
    for (unsigned i = 0; i < layers; ++i) {
        const Nodes norm{shape.kernel(last)};
        last = kernels_in_line(shape, 11, projections(shape, norm));
    }
    kernels_in_line(shape, 4, last);
    return shape;
}

} // namespace

Node Shape::add(const Nodes& after, bool is_barrier) {
    is_barrier_.push_back(is_barrier);
    predecessors_.insert(predecessors_.end(), after.begin(), after.end());
    first_.push_back(predecessors_.size());
    return size() - 1;
}

Node Shape::barrier_count() const {
    return static_cast<Node>(std::count(is_barrier_.begin(), is_barrier_.end(), true));
}

std::vector<Shape::Edge> Shape::edges() const {
    std::vector<Edge> list;
    list.reserve(edge_count());
    for (Node node = 0; node < size(); ++node)
        for (const Node from : predecessors(node))
            list.push_back({from, node});
    return list;
}

Shape line(unsigned nodes) {
    Shape shape(Family::line, "line " + std::to_string(nodes));
    kernels_in_line(shape, nodes, {});
    return shape;
}

Shape redundant_line(unsigned nodes, unsigned predecessors) {
    Shape shape(Family::redundant_line,
                "line " + std::to_string(nodes) + ", each after " + std::to_string(predecessors));
    for (Node node = 0; node < nodes; ++node) {
        Nodes before;
        for (Node from = node - std::min(node, predecessors); from < node; ++from)
            before.push_back(from);
        shape.kernel(before);
    }
    return shape;
}

Shape random_dag(unsigned nodes, unsigned predecessors, unsigned seed) {
    Shape shape(Family::random, "random " + std::to_string(nodes) + ", degree <= " + std::to_string(predecessors));
    std::mt19937 random(seed);
    for (Node node = 0; node < nodes; ++node) {
        const std::size_t count = std::min<std::size_t>(node, random() % (predecessors + 1));
        Nodes before;
        while (before.size() < count) {
            const Node from = static_cast<Node>(random() % node);
            if (std::find(before.begin(), before.end(), from) == before.end()) before.push_back(from);
        }
        shape.kernel(before);
    }
    return shape;
}

Shape layers(const std::vector<unsigned>& widths, Between between) {
    std::string name = "layers " + (widths.empty() ? "0" : by(static_cast<unsigned>(widths.size()), widths.front()));
    const bool joined = between == Between::barriers;
    Shape shape(joined ? Family::joined_layers : Family::layers, name + (joined ? ", joined" : ", direct"));
    Nodes before;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        before = kernels(shape, widths[i], before);
        if (joined && i + 1 < widths.size()) before = {shape.barrier(before)};
    }
    return shape;
}

Shape layers(unsigned count, unsigned width, Between between) {
    return layers(std::vector<unsigned>(count, width), between);
}

Shape batches(unsigned count, unsigned width) {
    Shape shape(Family::batches, "batches " + by(count, width));
    Nodes before;
    for (unsigned i = 0; i < count; ++i)
        before = {shape.barrier(kernels(shape, width, before))};
    return shape;
}

Shape when_all_chain(unsigned count, unsigned width) {
    Shape shape(Family::when_all, "when_all " + by(count, width));
    Nodes before{shape.barrier()};
    for (unsigned i = 0; i < count; ++i)
        before = {shape.barrier(kernels(shape, width, before))};
    return shape;
}

Shape chains(unsigned count, unsigned length) {
    Shape shape(Family::chains, "chains " + by(count, length));
    for (unsigned i = 0; i < count; ++i)
        kernels_in_line(shape, length, {});
    return shape;
}

Shape fork_join_tree(unsigned depth, unsigned fan_out) {
    Shape shape(Family::tree, "fork-join tree, " + std::to_string(fan_out) + "^" + std::to_string(depth));
    std::vector<Nodes> levels{{shape.kernel()}};
    for (unsigned i = 0; i < depth; ++i) {
        Nodes next;
        for (const Node parent : levels.back())
            for (const Node child : kernels(shape, fan_out, {parent}))
                next.push_back(child);
        levels.push_back(std::move(next));
    }
    Nodes level = levels.back();
    while (level.size() > 1) {
        Nodes next;
        for (auto first = level.begin(); first != level.end(); first += fan_out)
            next.push_back(shape.kernel({first, first + fan_out}));
        level = std::move(next);
    }
    return shape;
}

Shape wavefront(unsigned rows, unsigned columns) {
    Shape shape(Family::stencil, "wavefront " + by(rows, columns));
    for (unsigned row = 0; row < rows; ++row)
        for (unsigned column = 0; column < columns; ++column) {
            const Node node = row * columns + column;
            Nodes before;
            if (row > 0) before.push_back(node - columns);
            if (column > 0) before.push_back(node - 1);
            if (row > 0 && column > 0) before.push_back(node - columns - 1);
            shape.kernel(before);
        }
    return shape;
}

Shape stencil(unsigned steps, unsigned cells) {
    Shape shape(Family::stencil, "stencil " + by(steps, cells));
    for (unsigned step = 0; step < steps; ++step)
        for (unsigned cell = 0; cell < cells; ++cell) {
            Nodes before;
            if (step > 0) {
                const Node same = (step - 1) * cells + cell;
                if (cell > 0) before.push_back(same - 1);
                before.push_back(same);
                if (cell + 1 < cells) before.push_back(same + 1);
            }
            shape.kernel(before);
        }
    return shape;
}

Shape reduction_tree(unsigned leaves, unsigned fan_in) {
    Shape shape(Family::tree, "reduction of " + std::to_string(leaves) + " by " + std::to_string(fan_in));
    Nodes level = kernels(shape, leaves, {});
    while (level.size() > 1) {
        Nodes next;
        for (std::size_t i = 0; i < level.size(); i += fan_in) {
            const auto first = level.begin() + static_cast<std::ptrdiff_t>(i);
            const auto last = level.begin() + static_cast<std::ptrdiff_t>(std::min(level.size(), i + fan_in));
            next.push_back(shape.kernel({first, last}));
        }
        level = std::move(next);
    }
    return shape;
}

Shape decoder(unsigned layers) {
    return decoder_of("decoder " + std::to_string(layers) + ", line", layers, projections_in_line);
}

Shape forked_decoder(unsigned layers) {
    return decoder_of("decoder " + std::to_string(layers) + ", forks", layers, forked_projections);
}

std::vector<Shape> all_shapes(double scale) {
    const auto n = [scale](unsigned number) {
        return static_cast<unsigned>(std::max(2L, std::lround(number * scale)));
    };
    std::vector<Shape> shapes{line(n(1000))};
    for (const unsigned predecessors : {2U, 8U, 32U})
        shapes.push_back(redundant_line(n(1000), predecessors));
    for (const unsigned predecessors : {2U, 6U, 24U})
        shapes.push_back(random_dag(n(500), predecessors, 1));
    for (const Between between : {Between::edges, Between::barriers})
        for (const auto& [count, width] :
             std::initializer_list<std::pair<unsigned, unsigned>>{{10, 100}, {100, 10}, {250, 4}, {32, 32}})
            shapes.push_back(layers(n(count), n(width), between));
    for (const unsigned width : {8U, 32U})
        shapes.push_back(batches(n(50), n(width)));
    shapes.push_back(when_all_chain(n(100), n(3)));
    shapes.push_back(chains(n(100), n(10)));
    shapes.push_back(chains(n(16), n(60)));
    shapes.push_back(fork_join_tree(n(8), 2));
    shapes.push_back(wavefront(n(32), n(32)));
    shapes.push_back(stencil(n(32), n(32)));
    shapes.push_back(reduction_tree(n(512), 2));
    shapes.push_back(decoder(n(32)));
    shapes.push_back(forked_decoder(n(32)));
    return shapes;
}

} // namespace bench
