// Which nodes of one graph stand for which of another that differs only in how its nodes are numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// A node as others see it.
struct MatchNode {
    std::uint64_t key = 0;        ///< what a partner must have, too
    std::uint64_t more = 0;       ///< the same
    std::uint32_t label = 0;      ///< equal numbers are equal labels; 0 is none
    std::uint64_t preference = 0; ///< what a partner has rather than another, where several are possible
    std::uint64_t likeness = 0;   ///< the same, where none has the preferred one
};

struct MatchEdge {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t kind = 0;
    friend auto operator<=>(const MatchEdge&, const MatchEdge&) = default;
};

struct MatchGraph {
    std::vector<MatchNode> nodes;
    std::vector<MatchEdge> edges;
};

struct Matching {
    enum class Result {
        found,
        other_nodes, ///< one graph has more nodes of a key and a label than the other
        other_edges,
        gave_up,
    };
    /// Nodes that are alike, of which the graphs have different numbers.
    struct Group {
        std::vector<std::uint32_t> before;
        std::vector<std::uint32_t> after;
    };

    Result result;
    /// Whether there is no pairing.
    [[nodiscard]] bool is_refuted() const noexcept {
        return result == Result::other_nodes || result == Result::other_edges;
    }
    std::vector<std::uint32_t> partner = {}; ///< if found: of each node of the first graph
    std::vector<Group> unmatched = {};       ///< if not, as far as known; of other edges, the first that were noticed
};

/// Pairs the nodes of two graphs one to one, so that keys and edges with their kinds agree, and labels where both nodes
/// have one. A label that equally many nodes have in both graphs pairs those.
///
/// Nodes that look alike are told apart by their neighbours, until neighbours tell no more (colour refinement, by
/// smaller halves: n log n). Where several pairings are left, pairs are tried, the preferred ones first, and what
/// follows from each; of most graphs any one is right. A pairing counts when all edges have been compared.
/// Deterministic: of the values of keys and preferences it matters only which are equal.
class Matcher {
  public:
    /// What the search may look at beyond `steps_of_an_edge` for each node and edge.
    static constexpr std::uint64_t more_steps = 4'000'000;
    static constexpr std::uint64_t steps_of_an_edge = 64;

    /// Refers to both graphs.
    Matcher(const MatchGraph& before, const MatchGraph& after);

    /// Whether nodes with the same number stand for each other.
    [[nodiscard]] bool is_in_order() const;
    [[nodiscard]] Matching find(std::uint64_t more = more_steps) const;

  private:
    /// Of the edges; that of the nodes is for the caller.
    [[nodiscard]] bool is_right(const std::vector<std::uint32_t>& partner) const;
    [[nodiscard]] std::vector<Matching::Group> unequal_colours() const;

    const MatchGraph& before_;
    const MatchGraph& after_;
    std::vector<std::uint32_t> colours_; ///< of the nodes of both graphs: equal ones may be partners
    std::uint32_t colour_count_ = 0;
};

} // namespace cudag::detail
