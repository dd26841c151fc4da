// Graph identity: the graph of a handle.
#include "graph_identity.hpp"

#include "cuda/failure.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <string>
#include <utility>

namespace cudag::detail {

void GraphIdentity::refuse_dead(const Node& node) {
    if (node.slot_ == nullptr) refuse("an empty node handle was used; handles come from a GraphBuilder or a Graph");
    refuse("the graph of this node handle no longer exists; keep its Graph, or an Exec of it, as long as the handle");
}

std::uint32_t GraphIdentity::index_beside(const RemovedNodes& removed, std::uint32_t number) {
    const RemovedNode* const node = removed.find(number);
    if (node == nullptr) return removed.index_of(number);
    refuse(fmt::format("the node was removed, at {}", node->removed_at),
           {describe_removed(*node), {std::string(node->label)}, node->made_at});
}

std::string describe_removed(const RemovedNode& node) {
    std::string text(node.kind);
    if (!node.label.empty()) text += fmt::format(" \"{}\"", without_nul(node.label));
    if (node.made_at.line != 0) text += fmt::format(" at {}", node.made_at);
    return text;
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
