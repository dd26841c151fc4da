// Changes of nodes after they were made, counted so that an exec can catch up.
#include "graph_state.hpp"

#include <utility>

namespace cudag::detail {

UpdatedNode& GraphState::updated(std::uint32_t index) {
    if (const auto found = updated_.find(index); found != updated_.end()) return found->second;
    const NodeParams original = nodes_[index].params;
    const NodeParams copy = copy_params(arena_->memory(), original);
    UpdatedNode& node = updated_.try_emplace(index, UpdatedNode{this, index, 0, original}).first->second;
    nodes_[index].params = copy;
    return node;
}

void GraphState::count_change(UpdatedNode& node, Owners&& owners) noexcept {
    if (parent_ != nullptr) return parent_->count_change(node, std::move(owners));
    std::swap(node.owners, owners); // execs that use the former ones hold them, too
    if (node.version == 0) ++changed_nodes_;
    node.version = ++version_;
    changes_.push_back({version_, &node});
    if (changes_.size() < 2 * changed_nodes_ + 64) return;
    const auto outdated = [](const Change& change) { return change.version != change.node->version; };
    changes_.erase(std::remove_if(changes_.begin(), changes_.end(), outdated), changes_.end());
}

const NodeParams& GraphState::original_params(std::uint32_t index) const {
    read_nodes();
    if (updated_.empty()) return nodes_[index].params;
    const auto found = updated_.find(index);
    return found == updated_.end() ? nodes_[index].params : found->second.original;
}

} // namespace cudag::detail
