// Which graph a handle is of.
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

/// What the handles of one graph know it by, and those of the graph that it was cloned from.
class GraphIdentity {
  public:
    /// The live graph of a handle. Throws GraphError for an empty handle or one whose graph is gone.
    [[nodiscard]] static GraphState& of(const Node& node) {
        if (is_alive(node)) [[likely]]
            return *node.slot_->state;
        refuse_dead(node);
    }
    /// Whether `of` would not throw.
    [[nodiscard]] static bool is_alive(const Node& node) noexcept {
        return node.slot_ != nullptr && node.slot_->generation.load(std::memory_order_acquire) == node.generation_;
    }
    /// The live root graph of a condition. Throws GraphError if it is gone.
    [[nodiscard]] static GraphState& of(const Condition& condition);
    /// The index of a handle whose graph is alive: ask `of` first. Throws GraphError if the node was removed.
    [[nodiscard]] static std::uint32_t index_unchecked(const Node& node) {
        const RemovedNodes* const removed = node.slot_->removed;
        if (removed == nullptr) [[likely]]
            return node.number_;
        return index_beside(*removed, node.number_);
    }
    /// What is left of the node of a handle whose graph is alive; null if it was not removed.
    [[nodiscard]] static const RemovedNode* find_removed(const Node& node) noexcept {
        return node.slot_->removed == nullptr ? nullptr : node.slot_->removed->find(node.number_);
    }

    [[nodiscard]] Node handle(std::uint32_t index) const noexcept { return numbered(number_of(index)); }
    /// The number that the handle of node `index` has for good, and the handle with such a number.
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
    /// The value that users have of a condition of this root.
    [[nodiscard]] Condition condition_value(cudaGraphConditionalHandle handle) const noexcept;
    /// Whether `node` is a handle of this graph.
    [[nodiscard]] bool is_own(const Node& node) const noexcept {
        return slot_ != nullptr && node.slot_ == slot_ &&
               node.generation_ == slot_->generation.load(std::memory_order_relaxed);
    }
    /// Whether `node` was a handle of the graph that this one was cloned from.
    [[nodiscard]] bool is_of_origin(const Node& node) const noexcept {
        return origin_ != nullptr && node.slot_ == origin_ && node.generation_ == origin_generation_;
    }
    /// The handle here of such a node, whose graph may be gone. Throws GraphError if it was removed.
    [[nodiscard]] Node of_origin(const Node& node) const {
        if (removed_ != nullptr) static_cast<void>(index_beside(*removed_, node.number_));
        return numbered(node.number_);
    }
    [[nodiscard]] bool is_clone() const noexcept { return origin_ != nullptr; }
    /// Whether it was cloned from `graph`, which is alive.
    [[nodiscard]] bool is_clone_of(const GraphIdentity& graph) const noexcept {
        return origin_ != nullptr && origin_ == graph.slot_ &&
               origin_generation_ == graph.slot_->generation.load(std::memory_order_relaxed);
    }
    /// Whether handles find this graph no more.
    [[nodiscard]] bool is_orphan() const noexcept { return slot_ == nullptr; }

    GraphIdentity(const GraphIdentity&) = delete;
    GraphIdentity& operator=(const GraphIdentity&) = delete;

  protected:
    GraphIdentity() noexcept = default;
    ~GraphIdentity() { end(); }

    /// From now on handles find `graph`, which this is a part of.
    void begin(GraphState& graph) {
        slot_ = take_slot(graph);
        slot_->removed = removed_.get();
    }
    /// Before `begin`. The handles get the numbers that those of `origin` have.
    void begin_clone_of(const GraphIdentity& origin) noexcept {
        origin_ = origin.slot_;
        origin_generation_ = origin.slot_->generation.load(std::memory_order_relaxed);
        removed_ = origin.removed_;
    }
    /// Room for `more` removed nodes; `add_removed` takes them in order, before their indices go.
    void reserve_removed(std::size_t more) {
        if (removed_ == nullptr) removed_ = std::make_shared<RemovedNodes>();
        removed_->reserve(more);
    }
    void add_removed(std::vector<RemovedNode>&& nodes) noexcept {
        removed_->add(std::move(nodes));
        slot_->removed = removed_.get();
    }
    /// The handles end.
    void end() noexcept;

  private:
    [[noreturn]] static void refuse_dead(const Node& node);
    [[nodiscard]] static std::uint32_t index_beside(const RemovedNodes& removed, std::uint32_t number);

    GraphSlot* slot_ = nullptr;
    const GraphSlot* origin_ = nullptr;
    std::uint32_t origin_generation_ = 0;
    std::shared_ptr<RemovedNodes> removed_; ///< null if there are none; shared with clones, and then it stays as it is
};

} // namespace cudag::detail
