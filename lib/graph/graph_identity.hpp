// Graph identity: the graph of a handle.
#pragma once

#include "graph_slot.hpp"
#include "removed_nodes.hpp"

#include <cudag/condition.hpp>
#include <cudag/node.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The identity that handles of one graph refer to, with the identity of its origin if it is a clone.
class GraphIdentity {
  public:
    GraphIdentity() noexcept = default;
    ~GraphIdentity() { end(); }
    GraphIdentity(const GraphIdentity&) = delete;
    GraphIdentity& operator=(const GraphIdentity&) = delete;

    /// Returns the live graph of a handle. Throws GraphError if the handle is empty or its graph is gone.
    [[nodiscard]] static GraphState& of(const Node& node) {
        if (is_alive(node)) [[likely]]
            return *node.slot_->state;
        refuse_dead(node);
    }
    /// Whether the graph of a handle lives, so that `of` does not throw.
    [[nodiscard]] static bool is_alive(const Node& node) noexcept {
        return node.slot_ != nullptr && node.slot_->generation.load(std::memory_order_acquire) == node.generation_;
    }
    /// Returns the live root graph of a condition. Throws GraphError if it is gone.
    [[nodiscard]] static GraphState& of(const Condition& condition);
    /// Returns the index of a node; its graph must be alive: call `of` first. Throws GraphError if the node was
    /// removed.
    [[nodiscard]] static std::uint32_t index_unchecked(const Node& node) {
        const RemovedNodes* const removed = node.slot_->removed;
        if (removed == nullptr) [[likely]]
            return node.number_;
        return index_beside(*removed, node.number_);
    }
    /// Returns the record of a removed node; its graph must be alive. Null if the node was not removed.
    [[nodiscard]] static const RemovedNode* find_removed(const Node& node) noexcept {
        return node.slot_->removed == nullptr ? nullptr : node.slot_->removed->find(node.number_);
    }

    [[nodiscard]] Node handle(std::uint32_t index) const noexcept { return numbered(number_of(index)); }
    /// Convert between indices, numbers and handles: a handle keeps its number for good.
    [[nodiscard]] std::uint32_t number_of(std::uint32_t index) const noexcept {
        return removed_ == nullptr ? index : removed_->number_of(index);
    }
    [[nodiscard]] Node numbered(std::uint32_t number) const noexcept {
        Node node;
        node.slot_ = slot_;
        node.generation_ = slot_->generation.load(std::memory_order_relaxed);
        node.number_ = number;
        return node;
    }
    /// Returns the user's value of a condition of this root.
    [[nodiscard]] Condition condition_value(cudaGraphConditionalHandle handle) const noexcept;
    /// Whether `node` is a handle of this graph.
    [[nodiscard]] bool is_own(const Node& node) const noexcept {
        return slot_ != nullptr && node.slot_ == slot_ &&
               node.generation_ == slot_->generation.load(std::memory_order_relaxed);
    }
    /// Whether `node` was a handle of the origin of this clone.
    [[nodiscard]] bool is_of_origin(const Node& node) const noexcept {
        return origin_ != nullptr && node.slot_ == origin_ && node.generation_ == origin_generation_;
    }
    /// Returns the handle here of such a node; the origin may be gone. Throws GraphError if the node was removed.
    [[nodiscard]] Node of_origin(const Node& node) const {
        if (removed_ != nullptr) static_cast<void>(index_beside(*removed_, node.number_));
        return numbered(node.number_);
    }
    [[nodiscard]] bool is_clone() const noexcept { return origin_ != nullptr; }
    /// Whether this graph was cloned from `graph`, which must be alive.
    [[nodiscard]] bool is_clone_of(const GraphIdentity& graph) const noexcept {
        return origin_ != nullptr && origin_ == graph.slot_ &&
               origin_generation_ == graph.slot_->generation.load(std::memory_order_relaxed);
    }
    /// Whether handles no longer find this graph.
    [[nodiscard]] bool is_orphan() const noexcept { return slot_ == nullptr; }

    /// Makes handles find `graph`, which this object must be a part of.
    void begin(GraphState& graph) {
        slot_ = take_slot(graph);
        slot_->removed = removed_.get();
    }
    /// Records `origin` as the origin of this clone: its handles get the same numbers. Call it before `begin`.
    void begin_clone_of(const GraphIdentity& origin) noexcept {
        origin_ = origin.slot_;
        origin_generation_ = origin.slot_->generation.load(std::memory_order_relaxed);
        removed_ = origin.removed_;
    }
    /// The same for a copy that has handles already; their numbers become those of `origin`.
    void become_clone_of(const GraphIdentity& origin) noexcept {
        begin_clone_of(origin);
        slot_->removed = removed_.get();
    }
    /// Makes room for `more` removed nodes; `add_removed` takes them in order, before their indices go.
    void reserve_removed(std::size_t more) {
        if (removed_ == nullptr) removed_ = std::make_shared<RemovedNodes>();
        removed_->reserve(more);
    }
    void add_removed(std::vector<RemovedNode>&& nodes) noexcept {
        removed_->add(std::move(nodes));
        slot_->removed = removed_.get();
    }
    /// Ends all handles.
    void end() noexcept;

  private:
    [[noreturn]] static void refuse_dead(const Node& node);
    [[nodiscard]] static std::uint32_t index_beside(const RemovedNodes& removed, std::uint32_t number);

    GraphSlot* slot_ = nullptr;
    const GraphSlot* origin_ = nullptr;
    std::uint32_t origin_generation_ = 0;
    std::shared_ptr<RemovedNodes> removed_; ///< null if there are none; immutable once shared with clones
};

[[nodiscard]] const GraphIdentity& identity_of(const GraphState& graph) noexcept;

} // namespace cudag::detail
