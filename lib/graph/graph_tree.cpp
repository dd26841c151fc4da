// Nesting of graphs: a graph is a root, or inside a node of another graph.
#include "graph_tree.hpp"

#include "graph_state.hpp"
#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "lists/renumbering.hpp"

#include <algorithm>
#include <utility>

namespace cudag::detail {

std::span<const std::shared_ptr<GraphState>> GraphTree::nested_in(std::uint32_t node) const {
    const auto first = std::lower_bound(nested_.begin(), nested_.end(), node,
                                        [](const std::shared_ptr<GraphState>& inner, std::uint32_t index) {
                                            return inner->tree_.parent_node_ < index;
                                        });
    const auto last =
        std::upper_bound(first, nested_.end(), node, [](std::uint32_t index, const std::shared_ptr<GraphState>& inner) {
            return index < inner->tree_.parent_node_;
        });
    return {first, last};
}

void GraphTree::reserve(std::size_t more) {
    reserve_more(nested_, more);
}

void GraphTree::add(std::shared_ptr<GraphState>&& graph, std::uint32_t node, Place place, int device) noexcept {
    CUDAG_ASSERT(has_room(nested_));
    GraphTree& inner = graph->tree_;
    inner.parent_ = this;
    inner.parent_node_ = node;
    inner.place_ = place;
    inner.device_ = device;
    const bool follows = !nested_.empty() && nested_.back()->tree_.parent_node_ == node;
    inner.number_ = follows ? nested_.back()->tree_.number_ + 1 : 0;
    inner.position_ = static_cast<std::uint32_t>(nested_.size());
    nested_.push_back(std::move(graph));
}

std::shared_ptr<GraphState> GraphTree::take_last(std::uint32_t first) noexcept {
    if (nested_.empty() || nested_.back()->tree_.parent_node_ < first) return nullptr;
    std::shared_ptr<GraphState> last = std::move(nested_.back());
    nested_.pop_back();
    last->tree_.parent_ = nullptr;
    return last;
}

std::size_t GraphTree::count_gone_graphs(const Renumbering& next) const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(nested_, [&](const auto& inner) { return !next.keeps(inner->tree_.parent_node_); }));
}

void GraphTree::renumber(const Renumbering& next, std::vector<std::shared_ptr<GraphState>>& gone) noexcept {
    std::size_t kept = 0;
    for (std::shared_ptr<GraphState>& each : nested_) {
        GraphTree& inner = each->tree_;
        if (next.keeps(inner.parent_node_)) {
            inner.parent_node_ = next(inner.parent_node_);
            inner.position_ = static_cast<std::uint32_t>(kept);
            nested_[kept++].swap(each);
        } else {
            inner.parent_ = nullptr;
            CUDAG_ASSERT(has_room(gone));
            gone.push_back(std::move(each));
        }
    }
    nested_.resize(kept);
}

std::uint32_t GraphTree::number_from(std::uint32_t first) noexcept {
    first_number_ = first;
    std::uint32_t next = first + static_cast<std::uint32_t>(self_.records().known_nodes());
    for (const auto& graph : nested_)
        next = graph->tree_.number_from(next);
    return next;
}

} // namespace cudag::detail
