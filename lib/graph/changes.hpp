// Updates of nodes after their addition, counted so that an exec can catch up.
#pragma once

#include "declared_accesses.hpp"
#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "node/owned_params.hpp"
#include "node_table.hpp"

#include <cudag/detail/call_effects.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory_resource>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// A node with parameters updated after its addition. Its record keeps the first parameters, because execs made before
/// the first update still have these.
struct UpdatedNode {
    GraphState* graph;
    std::uint32_t index;
    OwnedParams params;                        ///< the effective parameters
    std::uint64_t version = 0;                 ///< of the last change; 0 before the first
    std::vector<ArgumentAccess> accesses = {}; ///< the effective accesses of a kernel
    Owners owners = {}; ///< brought in by the last change; last: an update of plain values then reads few cache lines
};

/// The updated nodes of one graph, without those of graphs inside it.
class UpdatedNodes {
  public:
    /// Returns the entry of node `index`; null if it was never updated.
    [[nodiscard]] const UpdatedNode* find(std::uint32_t index) const noexcept {
        return by_index_.empty() ? nullptr : by_index_[index];
    }
    /// Returns the entry of a node of `graph` with the nodes `table`. The first call makes the entry, which changes
    /// nothing yet.
    [[nodiscard]] UpdatedNode& place(GraphState& graph, const NodeTable& table, const DeclaredAccesses& declared,
                                     std::uint32_t index, std::pmr::memory_resource& memory) {
        if (by_index_.empty()) by_index_.resize(table.size());
        UpdatedNode*& place = by_index_[index];
        if (place != nullptr) return *place;
        UpdatedNode node{&graph, index, OwnedParams(memory, table.records()[index].params)};
        declared.for_each(index, [&](const ArgumentAccess& access) { node.accesses.push_back(access); });
        place = &all_.emplace_front(std::move(node));
        return *place;
    }
    [[nodiscard]] std::forward_list<UpdatedNode>& all() noexcept { return all_; }
    [[nodiscard]] const std::forward_list<UpdatedNode>& all() const noexcept { return all_; }

  private:
    std::forward_list<UpdatedNode> all_;
    std::vector<UpdatedNode*> by_index_; ///< empty before the first
};

/// The changes of a root and of all graphs inside it.
class ChangeLog {
  public:
    /// Grows with each change. Needs no lock: a reader that takes the lock afterwards finds at least these changes.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
    /// Makes room for `more` changes: counting them then cannot fail.
    void reserve(std::size_t more) { reserve_more(changes_, more); }
    [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); }

    /// Counts a change of `node` already made in its entry, and takes its `owners`. Call `reserve` first. Execs that
    /// use the former owners hold them, too.
    void count(UpdatedNode& node, Owners&& owners) noexcept {
        if (!node.owners.empty() || !owners.empty()) std::swap(node.owners, owners);
        if (node.version == 0) ++nodes_;
        note(node);
        if (changes_.size() < 2 * nodes_ + 64) return;
        std::erase_if(changes_, [](const Change& change) { return change.is_outdated(); });
    }
    /// Takes over the changes of a graph, a root so far, that is put inside this one.
    void take(ChangeLog& other) noexcept {
        for (const Change& change : std::exchange(other.changes_, {})) {
            if (change.is_outdated()) continue;
            note(*change.node);
            ++nodes_;
        }
    }

    /// Forgets the changes of all graphs for which `is_gone` holds.
    template <class IsGone>
    void forget(const IsGone& is_gone) noexcept {
        std::erase_if(changes_, [&](const Change& change) {
            if (!is_gone(*change.node->graph)) return false;
            if (!change.is_outdated()) --nodes_;
            return true;
        });
    }

    /// Visits the nodes changed after `version`, each once, in order of their last change.
    template <class Visit>
    void for_each_since(std::uint64_t version, const Visit& visit) const {
        auto change = std::upper_bound(changes_.begin(), changes_.end(), version,
                                       [](std::uint64_t v, const Change& c) { return v < c.version; });
        for (; change != changes_.end(); ++change)
            if (!change->is_outdated()) visit(std::as_const(*change->node));
    }

  private:
    struct Change {
        std::uint64_t version;
        UpdatedNode* node;

        /// Whether a later change of the same node replaces this one.
        [[nodiscard]] bool is_outdated() const noexcept { return version != node->version; }
    };

    void note(UpdatedNode& node) noexcept {
        CUDAG_ASSERT(has_room(changes_));
        node.version = version() + 1;
        changes_.push_back({node.version, &node});
        version_.store(node.version, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> version_ = 0;
    std::size_t nodes_ = 0;       ///< number of changed nodes
    std::vector<Change> changes_; ///< by version
};

/// Return the changes of the root of `graph`.
[[nodiscard]] const ChangeLog& changes_of(const GraphState& graph) noexcept;
[[nodiscard]] ChangeLog& changes_of(GraphState& graph) noexcept;

} // namespace cudag::detail
