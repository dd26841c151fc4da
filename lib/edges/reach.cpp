// Reachability between the nodes of a graph.
#include "reach.hpp"

#include "lists/none.hpp"

#include <algorithm>

namespace cudag::detail {

Reach::Reach(const std::vector<EdgeRecord>& edges, const std::vector<std::uint32_t>& place, Along along)
    : from_(along == Along::edges ? &EdgeRecord::from : &EdgeRecord::to),
      to_(along == Along::edges ? &EdgeRecord::to : &EdgeRecord::from), place_(place) {
    if (along == Along::against)
        for (std::uint32_t& number : place_)
            number = static_cast<std::uint32_t>(place_.size()) - 1 - number;
    number(place_.size(), edges, EdgeGroups(place_.size(), edges, from_));
}

void Reach::number(std::size_t nodes, const std::vector<EdgeRecord>& edges, const EdgeGroups& outgoing) {
    std::vector<bool> is_root(nodes, true);
    for (const EdgeRecord& edge : edges)
        is_root[edge.*to_] = false;
    number_.assign(nodes, none);
    end_.resize(nodes);
    std::vector<bool> in_forest(edges.size());
    std::vector<std::uint32_t> next(outgoing.first.begin(), outgoing.first.end() - 1);
    std::vector<std::uint32_t> order;
    order.reserve(nodes);
    std::vector<std::uint32_t> path;
    const auto enter = [&](std::uint32_t node) {
        number_[node] = static_cast<std::uint32_t>(order.size());
        order.push_back(node);
        path.push_back(node);
    };
    for (std::uint32_t root = 0; root < nodes; ++root) {
        if (!is_root[root]) continue;
        enter(root);
        while (!path.empty()) {
            const std::uint32_t node = path.back();
            if (next[node] == outgoing.first[node + 1]) {
                end_[node] = static_cast<std::uint32_t>(order.size());
                path.pop_back();
                continue;
            }
            const std::uint32_t edge = outgoing.items[next[node]++];
            if (number_[edges[edge].*to_] != none) continue;
            in_forest[edge] = true;
            enter(edges[edge].*to_);
        }
    }
    first_.reserve(nodes + 1);
    for (const std::uint32_t node : order) {
        first_.push_back(static_cast<std::uint32_t>(others_.size()));
        for (std::uint32_t i = outgoing.first[node]; i < outgoing.first[node + 1]; ++i)
            if (!in_forest[outgoing.items[i]]) others_.push_back(edges[outgoing.items[i]].*to_);
    }
    first_.push_back(static_cast<std::uint32_t>(others_.size()));
}

void Reach::search(std::uint32_t start, std::vector<Target>& targets) {
    std::sort(targets.begin(), targets.end(),
              [this](const Target& a, const Target& b) { return number_[a.node] < number_[b.node]; });
    std::uint32_t last = 0;
    for (const Target& target : targets)
        last = std::max(last, place_[target.node]);
    std::size_t left = targets.size();
    seen_.clear();
    waiting_.assign(1, start);
    while (!waiting_.empty()) {
        const std::uint32_t node = waiting_.back();
        waiting_.pop_back();
        if (is_seen(node)) continue;
        auto target =
            std::lower_bound(targets.begin(), targets.end(), number_[node],
                             [this](const Target& t, std::uint32_t number) { return number_[t.node] < number; });
        for (; target != targets.end() && number_[target->node] < end_[node]; ++target) {
            left -= target->reached ? 0 : 1;
            target->reached = true;
        }
        if (left == 0) return;
        leave(node, last);
    }
}

bool Reach::is_seen(std::uint32_t node) const {
    const auto after = seen_.upper_bound(number_[node]);
    return after != seen_.begin() && number_[node] < std::prev(after)->second;
}

void Reach::leave(std::uint32_t node, std::uint32_t last) {
    std::uint32_t next = number_[node];
    auto inside = seen_.lower_bound(next);
    while (inside != seen_.end() && inside->first < end_[node]) {
        follow(next, inside->first, last);
        next = inside->second;
        inside = seen_.erase(inside);
    }
    follow(next, end_[node], last);
    seen_.emplace_hint(inside, number_[node], end_[node]);
}

void Reach::follow(std::uint32_t first, std::uint32_t end, std::uint32_t last) {
    for (std::uint32_t i = first_[first]; i < first_[end]; ++i)
        if (place_[others_[i]] <= last && !is_seen(others_[i])) waiting_.push_back(others_[i]);
}

} // namespace cudag::detail
