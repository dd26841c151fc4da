// The families from which shapes are drawn.
#include "drawn_shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

using Node = Shape::Node;
using Nodes = Shape::Nodes;

class Draw {
  public:
    explicit Draw(unsigned seed) : random_(seed) {}

    /// A number from `least` to `most`.
    unsigned from(unsigned least, unsigned most) {
        return least + static_cast<unsigned>(random_() % (std::uint64_t{most} - least + 1));
    }
    /// The same, small numbers as often as great ones.
    unsigned by_size(unsigned least, unsigned most) {
        const double part = from(0, 1000) / 1000.0;
        return static_cast<unsigned>(std::lround(least * std::pow(static_cast<double>(most) / least, part)));
    }
    bool chance(unsigned percent) { return from(0, 99) < percent; }

  private:
    std::mt19937 random_;
};

Shape named(const std::string& name) {
    return {Family::random, name};
}

std::string number(unsigned value) {
    return std::to_string(value);
}

Nodes kernels(Shape& shape, unsigned width, const Nodes& before) {
    Nodes made;
    for (unsigned i = 0; i < width; ++i)
        made.push_back(shape.kernel(before));
    return made;
}

Node kernels_in_line(Shape& shape, unsigned length, Node last) {
    for (unsigned i = 0; i < length; ++i)
        last = shape.kernel({last});
    return last;
}

/// Each node follows the one before it, and by chance earlier ones.
Shape skipping_line(Draw& draw) {
    const unsigned nodes = draw.by_size(10, 600), far = draw.from(2, 8), percent = draw.from(5, 100);
    Shape shape = named("skips " + number(nodes) + ", " + number(percent) + "% by " + number(far));
    for (Node node = 0; node < nodes; ++node) {
        Nodes before;
        if (node > 0) before.push_back(node - 1);
        if (node >= far && draw.chance(percent)) before.push_back(node - draw.from(2, far));
        shape.kernel(before);
    }
    return shape;
}

/// Each node follows up to `degree` of the `reach` nodes before it.
Shape random_nodes(Draw& draw, unsigned degree, unsigned reach) {
    const unsigned nodes = draw.by_size(20, 600);
    Shape shape = named("random " + number(nodes) + ", " + number(degree) + " of " + number(reach));
    for (Node node = 0; node < nodes; ++node) {
        const unsigned near = std::min<unsigned>(node, reach);
        const std::size_t count = std::min(near, draw.from(0, degree));
        Nodes before;
        while (before.size() < count)
            if (const Node from = node - draw.from(1, near); std::ranges::find(before, from) == before.end())
                before.push_back(from);
        shape.kernel(before);
    }
    return shape;
}
Shape sparse(Draw& draw) {
    return random_nodes(draw, draw.from(1, 3), 600);
}
Shape dense(Draw& draw) {
    return random_nodes(draw, draw.from(4, 24), 600);
}
Shape local(Draw& draw) {
    return random_nodes(draw, draw.from(2, 6), draw.from(4, 40));
}

/// A line with forks: branches of some kernels each, which meet in a kernel, or in a barrier.
Shape forks(Draw& draw, unsigned least, unsigned most, unsigned nodes) {
    const unsigned width = draw.by_size(least, most), length = draw.from(1, 4), between = draw.from(0, 12);
    const bool joined = draw.chance(30);
    Shape shape = named("forks " + number(width) + "x" + number(length) + ", " + number(between) + " between" +
                        (joined ? ", joined" : ""));
    Node last = shape.kernel();
    while (shape.size() < nodes) {
        Nodes ends;
        for (unsigned i = 0; i < width; ++i)
            ends.push_back(kernels_in_line(shape, draw.from(1, length), last));
        if (joined) ends = {shape.barrier(ends)};
        last = kernels_in_line(shape, between, shape.kernel(ends));
    }
    return shape;
}
Shape short_forks(Draw& draw) {
    return forks(draw, 2, 4, draw.by_size(12, 600));
}
Shape wide_forks(Draw& draw) {
    return forks(draw, 5, 64, draw.by_size(40, 600));
}

/// Layers, by edges from each to each or by barriers.
Shape layered(Draw& draw, unsigned width, bool joined) {
    const unsigned nodes = draw.by_size(20, 600);
    const bool even = draw.chance(50);
    Shape shape = named("layers of " + number(width) + (even ? ", even" : "") + (joined ? ", joined" : ""));
    Nodes before;
    while (shape.size() < nodes) {
        before = kernels(shape, even ? width : draw.from(1, width), before);
        if (joined && before.size() > 1) before = {shape.barrier(before)};
    }
    return shape;
}
Shape direct_layers(Draw& draw) {
    return layered(draw, draw.by_size(2, 40), false);
}
Shape joined_layers(Draw& draw) {
    return layered(draw, draw.by_size(2, 100), true);
}

Shape map_reduce(Draw& draw) {
    const unsigned mapped = draw.by_size(8, 256), reduced = draw.from(2, std::max(2U, mapped / 4));
    const unsigned rounds = std::max(1U, draw.by_size(40, 800) / (mapped + reduced + 1));
    const bool joined = draw.chance(50) || mapped * reduced > 1000;
    Shape shape = named("map-reduce " + number(mapped) + "-" + number(reduced) + ", " + number(rounds) + " times" +
                        (joined ? ", joined" : ""));
    Nodes before;
    for (unsigned i = 0; i < rounds; ++i) {
        Nodes maps = kernels(shape, mapped, before);
        if (joined) maps = {shape.barrier(maps)};
        before = {shape.kernel(kernels(shape, reduced, maps))};
    }
    return shape;
}

/// A triangular solve by blocks: a kernel for each block of the matrix.
Shape triangular(Draw& draw) {
    const unsigned rows = draw.from(4, 32);
    const bool joined = draw.chance(40);
    Shape shape = named("triangular " + number(rows) + (joined ? ", joined" : ""));
    std::vector<Node> updated(rows);
    Nodes before;
    for (unsigned column = 0; column < rows; ++column) {
        if (joined) {
            const Node solved = shape.kernel(before);
            const Nodes updates = kernels(shape, rows - column - 1, {solved});
            before = updates.empty() ? updates : Nodes{shape.barrier(updates)};
            continue;
        }
        const Node solved = shape.kernel(column == 0 ? Nodes{} : Nodes{updated[column]});
        for (unsigned row = column + 1; row < rows; ++row)
            updated[row] = shape.kernel(column == 0 ? Nodes{solved} : Nodes{solved, updated[row]});
    }
    return shape;
}

/// A factorization by tiles, each kernel after the last writers of its tiles.
Shape cholesky(Draw& draw) {
    const unsigned tiles = draw.from(3, 13);
    Shape shape = named("cholesky " + number(tiles));
    std::vector<std::vector<Node>> writer(tiles, std::vector<Node>(tiles));
    const auto after = [](unsigned step, Node own, Nodes read) {
        if (step > 0 && std::ranges::find(read, own) == read.end()) read.push_back(own);
        return read;
    };
    for (unsigned k = 0; k < tiles; ++k) {
        writer[k][k] = shape.kernel(after(k, writer[k][k], {}));
        for (unsigned i = k + 1; i < tiles; ++i)
            writer[i][k] = shape.kernel(after(k, writer[i][k], {writer[k][k]}));
        for (unsigned i = k + 1; i < tiles; ++i)
            for (unsigned j = k + 1; j <= i; ++j)
                writer[i][j] = shape.kernel(
                    after(k, writer[i][j], i == j ? Nodes{writer[i][k]} : Nodes{writer[i][k], writer[j][k]}));
    }
    return shape;
}

/// Blocks with heads: query, key and value for each, score, softmax, sum; then a projection and a line.
Shape attention(Draw& draw) {
    const unsigned blocks = draw.by_size(2, 32), heads = draw.from(1, 8), line = draw.from(1, 10);
    Shape shape = named("attention x" + number(blocks) + ", " + number(heads) + " heads, line " + number(line));
    Node last = shape.kernel();
    for (unsigned block = 0; block < blocks; ++block) {
        const Node residual = last, norm = shape.kernel({last});
        Nodes sums;
        for (unsigned head = 0; head < heads; ++head) {
            const Nodes qkv = kernels(shape, 3, {norm});
            const Node softmax = shape.kernel({shape.kernel({qkv[0], qkv[1]})});
            sums.push_back(shape.kernel({softmax, qkv[2]}));
        }
        const Node projected = shape.kernel(sums);
        last = kernels_in_line(shape, line, shape.kernel({projected, residual}));
    }
    return shape;
}

Shape drawn_chains(Draw& draw) {
    return chains(draw.by_size(2, 100), draw.by_size(2, 40));
}
Shape drawn_wavefront(Draw& draw) {
    return wavefront(draw.from(2, 24), draw.from(2, 24));
}
Shape drawn_stencil(Draw& draw) {
    return stencil(draw.from(2, 24), draw.from(2, 32));
}
Shape drawn_reduction(Draw& draw) {
    return reduction_tree(draw.by_size(4, 300), draw.from(2, 6));
}
Shape drawn_tree(Draw& draw) {
    return fork_join_tree(draw.from(2, 4), draw.from(2, 4));
}
Shape drawn_when_all(Draw& draw) {
    return when_all_chain(draw.by_size(4, 80), draw.by_size(2, 12));
}
Shape drawn_decoder(Draw& draw) {
    return forked_decoder(draw.from(1, 24));
}

Shape butterflies(Draw& draw) {
    const unsigned stages = draw.from(2, 6), width = 1U << stages;
    Shape shape = named("butterflies " + number(stages) + " of " + number(width));
    Nodes last = kernels(shape, width, {});
    for (unsigned stage = 0; stage < stages; ++stage) {
        Nodes next;
        for (unsigned i = 0; i < width; ++i)
            next.push_back(shape.kernel({last[i], last[i ^ (1U << stage)]}));
        last = std::move(next);
    }
    return shape;
}

/// A step on several buffers: independent lines that meet at chance places.
Shape crossing_lines(Draw& draw) {
    const unsigned lines = draw.from(2, 24), steps = draw.by_size(4, 40), percent = draw.from(2, 40);
    Shape shape = named("lines " + number(lines) + "x" + number(steps) + ", " + number(percent) + "% crossing");
    Nodes last = kernels(shape, lines, {});
    for (unsigned step = 1; step < steps; ++step) {
        const Nodes before = last;
        for (unsigned i = 0; i < lines; ++i) {
            const unsigned other = draw.from(0, lines - 1);
            last[i] =
                shape.kernel(draw.chance(percent) && other != i ? Nodes{before[i], before[other]} : Nodes{before[i]});
        }
    }
    return shape;
}

/// Parts in sequence, each a line, a fork, or the same again.
Node part(Draw& draw, Shape& shape, Node last, unsigned depth) {
    const unsigned parts = draw.from(1, 4);
    for (unsigned i = 0; i < parts; ++i) {
        if (depth == 0 || shape.size() > 400 || draw.chance(30)) {
            last = kernels_in_line(shape, draw.from(1, 4), last);
            continue;
        }
        Nodes ends;
        for (unsigned branches = draw.from(2, 6); branches > 0; --branches)
            ends.push_back(part(draw, shape, last, depth - 1));
        last = draw.chance(50) ? shape.kernel(ends) : shape.barrier(ends);
    }
    return last;
}
Shape nested_forks(Draw& draw) {
    Shape shape = named("nested forks");
    const unsigned depth = draw.from(1, 3);
    Node last = shape.kernel();
    do
        last = part(draw, shape, last, depth);
    while (shape.size() < 40);
    shape.kernel({last});
    return shape;
}

constexpr std::array families{skipping_line,   sparse,        dense,          local,           short_forks,
                              wide_forks,      direct_layers, joined_layers,  map_reduce,      triangular,
                              cholesky,        attention,     drawn_chains,   drawn_wavefront, drawn_stencil,
                              drawn_reduction, drawn_tree,    drawn_when_all, drawn_decoder,   butterflies,
                              crossing_lines,  nested_forks};

} // namespace

Shape drawn_shape(unsigned seed) {
    Draw draw(seed);
    return families[seed / 2 % families.size()](draw);
}

Traits traits_of(const Shape& shape) {
    Traits traits;
    traits.has_joins = shape.barrier_count() != 0;
    std::vector<std::size_t> depth(shape.size()), width(shape.size() + 1);
    std::vector<std::vector<bool>> before(shape.size());
    for (Node node = 0; node < shape.size(); ++node) {
        std::vector<bool> implied(node);
        for (const Node from : shape.predecessors(node)) {
            depth[node] = std::max(depth[node], depth[from] + 1);
            for (Node i = 0; i < from; ++i)
                if (before[from][i]) implied[i] = true;
        }
        before[node] = std::move(implied);
        for (const Node from : shape.predecessors(node)) {
            traits.has_redundant = traits.has_redundant || before[node][from];
            before[node][from] = true;
        }
        if (!shape.is_barrier(node)) traits.width = std::max(traits.width, ++width[depth[node]]);
    }
    return traits;
}

} // namespace bench
