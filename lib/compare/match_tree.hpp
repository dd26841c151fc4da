// A graph and all graphs inside it as one value, to be matched with another.
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
    /// 0 for none.
    [[nodiscard]] std::uint32_t of(std::string_view label) {
        if (label.empty()) return 0;
        return numbers_.try_emplace(label, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
    }

  private:
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// All nodes in a row, those of a graph before those inside of it. What is inside a node hangs on it by edges of kinds
/// of their own, one for each of its graphs. The key of a kernel is its function, that of another node its kind.
class MatchTree {
  public:
    /// Kinds of edges from here on lead from a node to those inside its first graph, its second one, ...
    static constexpr std::uint32_t inside = 3;

    /// Reads captured graphs. The labels must stay.
    MatchTree(const GraphState& root, const InForce& in_force, LabelNumbers& labels);

    [[nodiscard]] const MatchGraph& graph() const noexcept { return graph_; }
    /// The same, where partners also have in common what updates of single nodes cannot change.
    [[nodiscard]] MatchGraph with_fixed() const;
    /// The same, where a kernel is one node like any other.
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
