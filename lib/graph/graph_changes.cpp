// Changes of nodes after they were made, counted so that an exec can catch up.
#include "graph_state.hpp"

#include <utility>

namespace cudag::detail {

UpdatedNode& GraphState::updated(std::uint32_t index) {
    if (updated_of_.empty()) updated_of_.resize(nodes().size());
    if (UpdatedNode* const found = updated_of_[index]) return *found;
    updated_of_[index] =
        &updated_.emplace_front(UpdatedNode{this, index, copy_params(arena_->memory(), nodes_[index].params)});
    return *updated_of_[index];
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
} // namespace cudag::detail
