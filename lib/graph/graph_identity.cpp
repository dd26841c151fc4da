// Which graph a handle is of.
#include "graph_identity.hpp"

#include "cuda/failure.hpp"

#include <utility>

namespace cudag::detail {

void GraphIdentity::refuse_dead(const Node& node) {
    if (node.slot_ == nullptr) refuse("an empty node handle was used; handles come from a GraphBuilder or a Graph");
    refuse("the graph of this node handle no longer exists; keep its Graph, or an Exec of it, as long as the handle");
}

GraphState& GraphIdentity::of(const Condition& condition) {
    if (condition.slot_->generation.load(std::memory_order_acquire) != condition.generation_)
        refuse("the graph of this condition no longer exists; each graph has conditions of its own");
    return *condition.slot_->state;
}

Condition GraphIdentity::condition_value(cudaGraphConditionalHandle handle) const noexcept {
    return {handle, slot_, slot_->generation.load(std::memory_order_relaxed)};
}

void GraphIdentity::end() noexcept {
    if (slot_ != nullptr) release_slot(std::exchange(slot_, nullptr));
}

} // namespace cudag::detail
