// Changes of nodes after they were made, counted so that an exec can catch up.
#pragma once

#include "declared_accesses.hpp"
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

/// A node whose parameters were changed after it was made. Its record keeps the first parameters, because execs made
/// before the first change still have these.
struct UpdatedNode {
    GraphState* graph;
    std::uint32_t index;
    OwnedParams params;                        ///< in force
    std::uint64_t version = 0;                 ///< of the last change; 0 before the first
    Owners owners = {};                        ///< what the last change brought in
    std::vector<ArgumentAccess> accesses = {}; ///< of a kernel, in force
};

/// Those of one graph, not of graphs inside it.
class UpdatedNodes {
  public:
    /// Null for a node that was not changed.
    [[nodiscard]] const UpdatedNode* find(std::uint32_t index) const noexcept {
        return by_index_.empty() ? nullptr : by_index_[index];
    }
    /// The place of a node of `graph`, which has `table`; made on first use, which changes nothing yet.
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

/// The changes in a root and in all graphs inside it.
class ChangeLog {
  public:
    /// Grows with each change. Needs no lock: a reader that takes the lock afterwards finds at least these changes.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
    /// Room for `more`: counting them then cannot fail.
    void reserve(std::size_t more) { reserve_more(changes_, more); }
    [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); }

    /// Counts a change of `node` that is in its record already, and has brought in `owners`; call `reserve` first.
    /// Execs that use the former owners hold them, too.
    void count(UpdatedNode& node, Owners&& owners) noexcept {
        if (!node.owners.empty() || !owners.empty()) std::swap(node.owners, owners);
        if (node.version == 0) ++nodes_;
        note(node);
        if (changes_.size() < 2 * nodes_ + 64) return;
        std::erase_if(changes_, [](const Change& change) { return change.is_outdated(); });
    }
    /// Counts those of a graph that was a root, and is inside this one from now on.
    void take(ChangeLog& other) noexcept {
        for (const Change& change : std::exchange(other.changes_, {})) {
            if (change.is_outdated()) continue;
            note(*change.node);
            ++nodes_;
        }
    }

    /// Forgets those of graphs of which `is_gone` holds.
    template <class IsGone>
    void forget(const IsGone& is_gone) noexcept {
        std::erase_if(changes_, [&](const Change& change) {
            if (!is_gone(*change.node->graph)) return false;
            if (!change.is_outdated()) --nodes_;
            return true;
        });
    }

    /// The nodes that were changed after `version`, each once, in order of the last change.
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

        /// Whether it is not its node's last, and says nothing.
        [[nodiscard]] bool is_outdated() const noexcept { return version != node->version; }
    };

    void note(UpdatedNode& node) noexcept {
        node.version = version() + 1;
        changes_.push_back({node.version, &node});
        version_.store(node.version, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> version_ = 0;
    std::size_t nodes_ = 0;       ///< how many were changed
    std::vector<Change> changes_; ///< by version
};

} // namespace cudag::detail
