// Which graph a handle is of.
#pragma once

#include "graph_slot.hpp"

#include <cudag/condition.hpp>
#include <cudag/node.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

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
    [[nodiscard]] static std::uint32_t index_unchecked(const Node& node) noexcept { return node.index_; }

    [[nodiscard]] Node handle(std::uint32_t index) const noexcept {
        Node node;
        node.slot_ = slot_;
        node.generation_ = slot_->generation.load(std::memory_order_relaxed);
        node.index_ = index;
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
    void begin(GraphState& graph) { slot_ = take_slot(graph); }
    void begin_clone_of(const GraphIdentity& origin) noexcept {
        origin_ = origin.slot_;
        origin_generation_ = origin.slot_->generation.load(std::memory_order_relaxed);
    }
    /// The handles end.
    void end() noexcept;

  private:
    [[noreturn]] static void refuse_dead(const Node& node);

    GraphSlot* slot_ = nullptr;
    const GraphSlot* origin_ = nullptr;
    std::uint32_t origin_generation_ = 0;
};

} // namespace cudag::detail
