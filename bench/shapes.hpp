// The graphs that the benchmarks, the tests and the examples build, as nodes and edges alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What shapes have in common, whatever their numbers.
enum class Family {
    line,
    redundant_line, ///< of edges that others imply
    random,
    layers, ///< every node of one after every node of the one before
    joined_layers,
    batches,
    when_all,
    chains,
    tree,
    stencil,
    decoder,
};

/// A graph as a program writes it: node by node, each with those that it comes after, which all stand before it. A node
/// is a kernel, or a barrier, which only orders others and is an empty node where a program writes it.
class Shape {
  public:
    using Node = std::uint32_t; ///< its place in the order in which nodes are made
    using Nodes = std::vector<Node>;
    struct Edge {
        Node from;
        Node to;
        friend bool operator==(const Edge&, const Edge&) = default;
    };

    Shape(Family family, std::string name) : family_(family), name_(std::move(name)) {}

    Node kernel(const Nodes& after = {}) { return add(after, false); }
    Node barrier(const Nodes& after = {}) { return add(after, true); }

    [[nodiscard]] Family family() const noexcept { return family_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Node size() const noexcept { return static_cast<Node>(is_barrier_.size()); }
    [[nodiscard]] Node barrier_count() const;
    [[nodiscard]] std::size_t edge_count() const noexcept { return predecessors_.size(); }
    [[nodiscard]] bool is_barrier(Node node) const { return is_barrier_[node]; }
    /// What `node` comes after, as written.
    [[nodiscard]] std::span<const Node> predecessors(Node node) const {
        return std::span(predecessors_).subspan(first_[node], first_[node + 1] - first_[node]);
    }
    /// By the node that they lead to, as written.
    [[nodiscard]] std::vector<Edge> edges() const;

    friend bool operator==(const Shape&, const Shape&) = default;

  private:
    Node add(const Nodes& after, bool is_barrier);

    Family family_;
    std::string name_;
    std::vector<bool> is_barrier_;
    std::vector<std::size_t> first_{0}; ///< by node: where its predecessors begin, and one more
    Nodes predecessors_;
};

/// How one layer comes before the next.
enum class Between { edges, barriers };

[[nodiscard]] Shape line(unsigned nodes);
/// A line whose nodes also say that they come after the `predecessors` - 1 before their last.
[[nodiscard]] Shape redundant_line(unsigned nodes, unsigned predecessors);
/// Each node comes after at most `predecessors` earlier ones. Equal seeds give equal shapes, with any standard library.
[[nodiscard]] Shape random_dag(unsigned nodes, unsigned predecessors, unsigned seed);
/// One layer for each width. Barriers stand between layers only.
[[nodiscard]] Shape layers(const std::vector<unsigned>& widths, Between between);
[[nodiscard]] Shape layers(unsigned count, unsigned width, Between between);
/// Command buffers as IREE records them: a barrier after each batch, the last one too.
[[nodiscard]] Shape batches(unsigned count, unsigned width);
/// `then` and `when_all` as Kokkos::Graph makes them: an empty root, and an empty node for each `when_all`.
[[nodiscard]] Shape when_all_chain(unsigned count, unsigned width);
/// Nothing orders one chain after another; they are written one by one.
[[nodiscard]] Shape chains(unsigned count, unsigned length);
/// Forks `depth` times into `fan_out` each, and joins them again.
[[nodiscard]] Shape fork_join_tree(unsigned depth, unsigned fan_out);
/// A table in which each cell comes after those above, to the left, and (implied by either) diagonally.
[[nodiscard]] Shape wavefront(unsigned rows, unsigned columns);
/// Each cell comes after itself and its two neighbours in the step before.
[[nodiscard]] Shape stencil(unsigned steps, unsigned cells);
/// `fan_in`: at least 2.
[[nodiscard]] Shape reduction_tree(unsigned leaves, unsigned fan_in);
/// One token of llama.cpp: 21 kernels a layer, one before and four after all layers, in a line.
[[nodiscard]] Shape decoder(unsigned layers);
/// The same with the projections of a layer beside each other: its kernel 1 forks into 2-3-8, 4-5-9 and 6-7-10, which
/// meet at 11.
[[nodiscard]] Shape forked_decoder(unsigned layers);

/// All of them, with about `scale` of the numbers that are measured; not less than two of anything.
[[nodiscard]] std::vector<Shape> all_shapes(double scale = 1);

} // namespace bench
