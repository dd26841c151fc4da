// Transitive reduction of a growing graph whose edges cannot be removed again.
#include "growing_reduction.hpp"

#include "lists/growth.hpp"
#include "lists/none.hpp"

#include <algorithm>

namespace cudag::detail {

void GrowingReduction::clear() noexcept {
    latest_.clear();
    next_.clear();
    turn_of_.clear();
    turn_ = 0;
    are_forward_ = true;
}

std::vector<bool> GrowingReduction::add(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    const std::size_t known = size();
    std::vector<bool> implied(edges.size() - known);
    try {
        latest_.resize(nodes, none);
        turn_of_.resize(nodes);
        link(edges);
        std::vector<std::uint32_t> targets;
        for (std::size_t i = known; i < edges.size(); ++i)
            if (next_[i] != none || latest_[edges[i].to] != i) targets.push_back(edges[i].to);
        std::sort(targets.begin(), targets.end());
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        for (const std::uint32_t target : targets) {
            if (!find_ancestors(edges, target)) continue;
            for (std::uint32_t edge = latest_[target]; edge != none && edge >= known; edge = next_[edge])
                implied[edge - known] = edges[edge].kind == EdgeKind::full && turn_of_[edges[edge].from] == turn_;
        }
    } catch (...) {
        clear();
        throw;
    }
    return implied;
}

void GrowingReduction::link(const std::vector<EdgeRecord>& edges) {
    reserve_more(next_, edges.size() - next_.size());
    for (auto i = static_cast<std::uint32_t>(next_.size()); i < edges.size(); ++i) {
        const EdgeRecord& edge = edges[i];
        are_forward_ = are_forward_ && edge.from < edge.to;
        next_.push_back(latest_[edge.to]);
        latest_[edge.to] = i;
    }
}

template <class Use>
void GrowingReduction::for_each_before(const std::vector<EdgeRecord>& edges, std::uint32_t node, const Use& use) const {
    for (std::uint32_t edge = latest_[node]; edge != none; edge = next_[edge])
        if (edges[edge].kind == EdgeKind::full) use(edges[edge].from);
}

/// Marks all ancestors of the direct predecessors of `node`. Returns false if there are too many.
bool GrowingReduction::find_ancestors(const std::vector<EdgeRecord>& edges, std::uint32_t node) {
    ++turn_;
    open_.clear();
    std::uint32_t first = none;
    for_each_before(edges, node, [&](std::uint32_t before) {
        open_.push_back(before);
        first = std::min(first, before);
    });
    if (!are_forward_) first = 0;
    std::size_t steps = 0;
    while (!open_.empty()) {
        const std::uint32_t one = open_.back();
        open_.pop_back();
        for_each_before(edges, one, [&](std::uint32_t before) {
            ++steps;
            if (before < first || turn_of_[before] == turn_) return;
            turn_of_[before] = turn_;
            open_.push_back(before);
        });
        if (steps > most_steps) return false;
    }
    return true;
}

} // namespace cudag::detail
