// Correspondence of nodes between two graphs that differ only in node numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// A node's properties for the comparison with others.
struct MatchNode {
    std::uint64_t key = 0;        ///< partners have equal keys
    std::uint64_t more = 0;       ///< partners have equal values here, too
    std::uint32_t label = 0;      ///< equal numbers are equal labels; 0 is none
    std::uint64_t preference = 0; ///< equal values make partners preferred, if several are possible
    std::uint64_t likeness = 0;   ///< the second preference, if no node has the preferred value
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
    /// Alike nodes in different numbers in the two graphs.
    struct Group {
        std::vector<std::uint32_t> before;
        std::vector<std::uint32_t> after;
    };

    Result result;
    /// Whether no pairing exists.
    [[nodiscard]] bool is_refuted() const noexcept {
        return result == Result::other_nodes || result == Result::other_edges;
    }
    std::vector<std::uint32_t> partner = {}; ///< if found: by node of the first graph
    std::vector<Group> unmatched = {};       ///< if not found: the known differences; for `other_edges`, the first ones
                                             ///< noticed
};

/// Pairs the nodes of two graphs one to one: keys, edges and edge kinds agree, and labels agree if both nodes have one.
/// A label on equally many nodes of both graphs pairs these nodes.
///
/// Neighbours distinguish nodes that look alike, as far as possible (colour refinement, by smaller halves: n log n). If
/// several pairings remain, the search tries pairs and their consequences, preferred pairs first; for most graphs, any
/// pairing is right. The final pairing counts only after a comparison of all edges. The result is deterministic: it
/// depends on the equality of keys and preferences, not on their values.
class Matcher {
  public:
    /// Limit of the search's steps beyond `steps_of_an_edge` for each node and edge.
    static constexpr std::uint64_t more_steps = 4'000'000;
    static constexpr std::uint64_t steps_of_an_edge = 64;

    /// Refers to both graphs.
    Matcher(const MatchGraph& before, const MatchGraph& after);

    /// Whether nodes with the same number are partners.
    [[nodiscard]] bool is_in_order() const;
    [[nodiscard]] Matching find(std::uint64_t more = more_steps) const;

  private:
    /// Compares the edges. The caller compares the nodes.
    [[nodiscard]] bool is_right(const std::vector<std::uint32_t>& partner) const;
    [[nodiscard]] std::vector<Matching::Group> unequal_colours() const;

    const MatchGraph& before_;
    const MatchGraph& after_;
    std::vector<std::uint32_t> colours_; ///< of the nodes of both graphs; equal colours may be partners
    std::uint32_t colour_count_ = 0;
};

} // namespace cudag::detail
