// A graph tree as one flat graph, for matching with another tree.
#pragma once

#include "diff.hpp"
#include "graph/node_place.hpp"
#include "matching/matching.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// Numbers for the labels of two trees.
class LabelNumbers {
  public:
    /// Returns the number of a label; 0 for none.
    [[nodiscard]] std::uint32_t of(std::string_view label) {
        if (label.empty()) return 0;
        return numbers_.try_emplace(label, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
    }

  private:
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// The nodes of a graph tree as one flat graph, the nodes of each graph before those inside it. A node has edges to all
/// nodes inside it, with a kind of their own for each of its inner graphs. The key of a kernel is its function, the key
/// of any other node its kind.
class MatchTree {
  public:
    /// Kind of the edges from a node into its first inner graph; the other inner graphs have the next kinds.
    static constexpr std::uint32_t inside = 3;

    /// Reads captured graphs. The labels must outlive this object.
    MatchTree(const GraphState& root, const InForce& in_force, LabelNumbers& labels);

    [[nodiscard]] const MatchGraph& graph() const noexcept { return graph_; }
    /// Returns the graph with fixed parameters, too: partners also agree in all that updates of single nodes cannot
    /// change.
    [[nodiscard]] MatchGraph with_fixed() const;
    /// Returns the graph with the kind as the key of kernels, too, so that any two kernels may be partners.
    [[nodiscard]] MatchGraph with_kinds() const;
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
    [[nodiscard]] const NodePlace& place(std::uint32_t node) const noexcept { return places_[node]; }

  private:
    void add(const GraphState& graph, LabelNumbers& labels);

    const InForce& in_force_;
    std::vector<NodePlace> places_;
    MatchGraph graph_;
};

} // namespace cudag::detail
