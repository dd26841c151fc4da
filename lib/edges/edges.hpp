// The edges of a graph as a value: added, merged, and searched for cycles and contradictions.
#pragma once

#include "edge_list.hpp"
#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Edges between numbered nodes, in the order in which they were added. `nodes` is how many nodes there are.
class Edges {
  public:
    Edges() = default;
    explicit Edges(std::vector<EdgeRecord> list);

    [[nodiscard]] const std::vector<EdgeRecord>& list() const noexcept { return list_; }
    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    /// Whether one may be other than full.
    [[nodiscard]] bool has_early() const noexcept { return has_early_; }

    /// Room for `more`.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    void add(const EdgeRecord& edge) {
        list_.push_back(edge);
        has_early_ = has_early_ || edge.kind != EdgeKind::full;
    }
    /// Adds a full edge that is known to be right, and new.
    void add_settled(std::uint32_t from, std::uint32_t to);
    /// Takes back all but the first `count`.
    void take_back(std::size_t count) { list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(count), list_.end()); }
    /// Removes those of nodes from `first` on.
    void forget_nodes(std::uint32_t first);
    /// Removes those of nodes that go.
    void renumber(const Renumbering& next) noexcept;
    /// Removes those between the ends of edges in `gone`, which are sorted, whatever their kind.
    void remove(std::span<const EdgeRecord> gone) noexcept;
    /// Merges repeated edges, keeping the first of each.
    void merge(std::size_t nodes);

    /// The nodes of a cycle in order, or nothing.
    [[nodiscard]] std::vector<std::uint32_t> find_cycle(std::size_t nodes) const;
    /// Two edges between the same nodes that differ in kind, or nothing.
    [[nodiscard]] std::vector<EdgeRecord> find_contradiction(std::size_t nodes) const;

    /// Whether what was added since `settle` can be neither wrong nor repeated: it leads forward, to nodes to which
    /// nothing led before.
    [[nodiscard]] bool only_extend() const;
    /// All of them are right, each there once.
    void settle() noexcept;

  private:
    void unsettle() noexcept;

    std::vector<EdgeRecord> list_;
    bool has_early_ = false;
    std::size_t settled_ = 0;   ///< how many are known to be right, each there once
    bool is_forward_ = true;    ///< whether those all lead to nodes with higher numbers
    std::uint32_t highest_ = 0; ///< the last node that one of those leads to
};

} // namespace cudag::detail
