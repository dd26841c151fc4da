// The edges of a graph as a value: adds, merges, finds cycles and contradictions.
#pragma once

#include "edge_list.hpp"
#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Edges between numbered nodes, in the order of their addition. `nodes` is the number of nodes.
class Edges {
  public:
    Edges() = default;
    explicit Edges(std::vector<EdgeRecord> list);

    [[nodiscard]] const std::vector<EdgeRecord>& list() const noexcept { return list_; }
    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    /// Whether an edge may be other than full.
    [[nodiscard]] bool has_early() const noexcept { return has_early_; }

    /// Makes room for `more` edges.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    void add(const EdgeRecord& edge) {
        reserve(1);
        list_.push_back(edge);
        has_early_ = has_early_ || edge.kind != EdgeKind::full;
    }
    /// Adds a full edge known to be valid and new.
    void add_settled(std::uint32_t from, std::uint32_t to);
    /// Removes all edges but the first `count`.
    void take_back(std::size_t count) { list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(count), list_.end()); }
    /// Removes the edges of nodes from `first` on.
    void forget_nodes(std::uint32_t first);
    /// Removes the edges of removed nodes and renumbers the others.
    void renumber(const Renumbering& next) noexcept;
    /// Removes every edge between the ends of an edge in `gone`, of any kind. `gone` is sorted.
    void remove(std::span<const EdgeRecord> gone) noexcept;
    /// Merges repeated edges, keeping the first of each.
    void merge(std::size_t nodes);

    /// The nodes of a cycle, in order; empty if there is none.
    [[nodiscard]] std::vector<std::uint32_t> find_cycle(std::size_t nodes) const;
    /// Two edges of different kinds between the same nodes; empty if there are none.
    [[nodiscard]] std::vector<EdgeRecord> find_contradiction(std::size_t nodes) const;

    /// Whether the edges added since `settle` are certainly valid and new: they lead forward, to nodes without earlier
    /// incoming edges.
    [[nodiscard]] bool only_extend() const;
    /// Declares all edges valid and unique.
    void settle() noexcept;

  private:
    void unsettle() noexcept;

    std::vector<EdgeRecord> list_;
    bool has_early_ = false;
    std::size_t settled_ = 0;   ///< number of edges known to be valid and unique
    bool is_forward_ = true;    ///< whether all settled edges lead to nodes with higher numbers
    std::uint32_t highest_ = 0; ///< the highest target of a settled edge
};

} // namespace cudag::detail
