// Precedence between nodes: whether paths lead from candidates to a node.
#include "precedence.hpp"

#include "lists/assertion.hpp"
#include "lists/none.hpp"

#include <algorithm>

namespace cudag::detail {

namespace {

constexpr int most_successors = 4; ///< tried one after another
constexpr std::size_t most_steps_of_all = 32;

} // namespace

Precedence::Precedence(const std::vector<EdgeRecord>& edges, const std::vector<std::uint32_t>& order,
                       const std::vector<std::uint32_t>& place)
    : edges_(edges), order_(order), place_(place), predecessor_(order.size(), none), successor_(order.size(), none),
      number_(order.size()), below_(order.size(), 1) {
    make_trees();
}

void Precedence::make_trees() {
    for (const EdgeRecord& edge : edges_) {
        std::uint32_t& latest = predecessor_[edge.to];
        if (latest == none || place_[latest] < place_[edge.from]) latest = edge.from;
        std::uint32_t& earliest = successor_[edge.from];
        if (earliest == none || place_[earliest] > place_[edge.to]) earliest = edge.to;
    }
    for (std::size_t i = order_.size(); i-- > 0;)
        if (const std::uint32_t above = predecessor_[order_[i]]; above != none) below_[above] += below_[order_[i]];
    std::vector<std::uint32_t> next(order_.size()); // by node: the number for the next one below it
    std::uint32_t next_root = 0;
    for (const std::uint32_t node : order_) {
        std::uint32_t& number = predecessor_[node] == none ? next_root : next[predecessor_[node]];
        number_[node] = number;
        next[node] = number + 1;
        number += below_[node];
    }
}

void Precedence::remove_ordered(std::uint32_t node, std::vector<std::uint32_t>& nodes) {
    CUDAG_ASSERT(std::ranges::all_of(nodes, [&](std::uint32_t other) { return place_[other] < place_[node]; }));
    std::erase_if(nodes, [&](std::uint32_t other) { return is_known(other, node); });
    if (!nodes.empty() && !look_back(node, nodes)) search(node, nodes);
}

bool Precedence::is_known(std::uint32_t first, std::uint32_t second) const {
    for (int i = 0; i < most_successors; ++i) {
        if (is_below(second, first)) return true;
        first = successor_[first];
        if (first == none || place_[first] > place_[second]) return false;
    }
    return false;
}

/// Looks back node by node, at most to the earliest candidate, for a limited number of steps. Returns whether they
/// sufficed.
bool Precedence::look_back(std::uint32_t node, std::vector<std::uint32_t>& nodes) {
    if (!incoming_) {
        incoming_.emplace(order_.size(), edges_, &EdgeRecord::to);
        asked_in_.assign(order_.size(), 0);
        seen_in_.assign(order_.size(), 0);
    }
    ++turn_;
    std::uint32_t earliest = none;
    for (const std::uint32_t other : nodes) {
        asked_in_[other] = turn_;
        earliest = std::min(earliest, place_[other]);
    }
    std::size_t left = nodes.size();
    std::size_t steps = 0;
    open_.assign(1, node);
    bool is_enough = true;
    for (std::size_t next = 0; next < open_.size() && left > 0 && is_enough; ++next) {
        for (std::uint32_t i = incoming_->first[open_[next]]; i < incoming_->first[open_[next] + 1]; ++i) {
            const std::uint32_t from = edges_[incoming_->items[i]].from;
            ++steps;
            if (place_[from] < earliest || seen_in_[from] == turn_) continue;
            seen_in_[from] = turn_;
            open_.push_back(from);
            if (asked_in_[from] != turn_) continue;
            asked_in_[from] = 0;
            --left;
        }
        is_enough = steps <= most_steps_of_all + 4 * nodes.size();
    }
    std::erase_if(nodes, [&](std::uint32_t other) { return asked_in_[other] != turn_; });
    return is_enough || left == 0;
}

void Precedence::search(std::uint32_t node, std::vector<std::uint32_t>& nodes) {
    if (!reach_) reach_.emplace(edges_, place_, Reach::Along::against);
    targets_.clear();
    for (const std::uint32_t other : nodes)
        targets_.push_back({other});
    reach_->search(node, targets_);
    nodes.clear();
    for (const Reach::Target& target : targets_)
        if (!target.reached) nodes.push_back(target.node);
}

} // namespace cudag::detail
