// Accesses to memory that nothing orders and that must be ordered.
#include "races.hpp"

#include "edge_groups.hpp"
#include "needed_order.hpp"
#include "reach.hpp"
#include "topological_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace cudag::detail {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// Which nodes come before others, along edges that order memory.
class Before {
  public:
    Before(const std::vector<EdgeRecord>& edges, const std::vector<std::uint32_t>& place)
        : edges_(edges), place_(place), incoming_(place.size(), edges, &EdgeRecord::to), asked_by_(place.size(), none),
          seen_by_(place.size(), none) {}

    /// Finds out which of `nodes`, each there once and with an earlier place, no path to `node` starts from.
    void ask(std::uint32_t node, const std::vector<std::uint32_t>& nodes) {
        if (!look_back(node, nodes)) search(node, nodes);
    }
    /// Of one of those that were asked for.
    [[nodiscard]] bool is_unordered(std::uint32_t other, std::uint32_t node) const { return asked_by_[other] == node; }

  private:
    static constexpr std::size_t most_steps = 32;

    /// From node to node, as far back as the earliest that is asked for, but not for long: whether that was enough.
    /// Those that are found lose their mark.
    bool look_back(std::uint32_t node, const std::vector<std::uint32_t>& nodes) {
        std::uint32_t earliest = none;
        for (const std::uint32_t other : nodes) {
            asked_by_[other] = node;
            earliest = std::min(earliest, place_[other]);
        }
        std::size_t left = nodes.size();
        std::size_t steps = 0;
        open_.assign(1, node);
        for (std::size_t next = 0; next < open_.size(); ++next) {
            if (next > 0 && steps > most_steps + 4 * nodes.size()) return false;
            for (std::uint32_t i = incoming_.first[open_[next]]; i < incoming_.first[open_[next] + 1]; ++i) {
                const EdgeRecord& edge = edges_[incoming_.items[i]];
                ++steps;
                if (place_[edge.from] < earliest || seen_by_[edge.from] == node || !orders_memory(edge.kind)) continue;
                seen_by_[edge.from] = node;
                open_.push_back(edge.from);
                if (asked_by_[edge.from] != node) continue;
                asked_by_[edge.from] = none;
                if (--left == 0) return true;
            }
        }
        return true;
    }

    void search(std::uint32_t node, const std::vector<std::uint32_t>& nodes) {
        if (!reach_) {
            std::vector<EdgeRecord> ordering = edges_;
            std::erase_if(ordering, [](const EdgeRecord& edge) { return !orders_memory(edge.kind); });
            reach_.emplace(ordering, place_, Reach::Along::against);
        }
        targets_.clear();
        for (const std::uint32_t other : nodes)
            if (is_unordered(other, node)) targets_.push_back({other});
        reach_->search(node, targets_);
        for (const Reach::Target& target : targets_)
            if (target.reached) asked_by_[target.node] = none;
    }

    const std::vector<EdgeRecord>& edges_;
    const std::vector<std::uint32_t>& place_;
    EdgeGroups incoming_;
    std::vector<std::uint32_t> asked_by_; ///< by node: which one it is asked for, until a path is found
    std::vector<std::uint32_t> seen_by_;  ///< by node: the last one that a look back from came by
    std::vector<std::uint32_t> open_;
    std::optional<Reach> reach_;
    std::vector<Reach::Target> targets_;
};

std::vector<std::uint32_t> order_of(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    if (!are_forward(edges)) return topological_order(edges, EdgeGroups(nodes, edges, &EdgeRecord::from));
    std::vector<std::uint32_t> order(nodes);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

} // namespace

std::vector<Conflict> find_races(std::span<const MemoryAccess> accesses, std::size_t nodes,
                                 const std::vector<EdgeRecord>& edges, std::size_t most) {
    const std::vector<std::uint32_t> order = order_of(nodes, edges);
    std::vector<std::uint32_t> place(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i)
        place[order[i]] = i;
    const auto node_of = [&](std::uint32_t access) { return accesses[access].node; };

    NeededOrder needed(accesses, nodes);
    Before before(edges, place);
    std::vector<Conflict> races;
    std::vector<std::uint32_t> asked;
    for (const std::uint32_t node : order) {
        const std::span<const Conflict> conflicts = needed.take(node);
        if (conflicts.empty()) continue;
        asked.clear();
        for (const Conflict& conflict : conflicts)
            asked.push_back(node_of(conflict.first));
        before.ask(node, asked);
        for (const Conflict& conflict : conflicts)
            if (before.is_unordered(node_of(conflict.first), node))
                races.push_back({std::min(conflict.first, conflict.second), std::max(conflict.first, conflict.second)});
    }
    std::ranges::sort(races, {},
                      [&](const Conflict& race) { return std::pair(node_of(race.second), node_of(race.first)); });
    races.resize(std::min(races.size(), most));
    return races;
}

} // namespace cudag::detail
