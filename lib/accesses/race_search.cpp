// Races: conflicting accesses of unordered nodes.
#include "race_search.hpp"

#include "access_parts.hpp"
#include "edges/edge_groups.hpp"
#include "edges/precedence.hpp"
#include "edges/topological_order.hpp"
#include "lists/none.hpp"
#include "memory_order.hpp"
#include "needed_order.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

std::vector<std::uint32_t> order_of(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    if (!are_forward(edges)) return topological_order(edges, EdgeGroups(nodes, edges, &EdgeRecord::from));
    std::vector<std::uint32_t> order(nodes);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

/// Takes the nodes of a graph in order and collects races. `edges` are those that order memory.
class RaceSearch {
  public:
    RaceSearch(const AccessList& accesses, std::size_t nodes, const std::vector<EdgeRecord>& edges)
        : accesses_(accesses), edges_(edges), order_(order_of(nodes, edges)), place_(places_in(order_)),
          incoming_(nodes, edges, &EdgeRecord::to), needed_(accesses, nodes) {}

    std::vector<Conflict> run() {
        for (const std::uint32_t node : order_)
            take(node);
        return std::move(races_);
    }

  private:
    static constexpr std::uint32_t long_list = 8;

    void take(std::uint32_t node) {
        const std::span<const NeededOrder::After> afters = needed_.take(node);
        for (std::uint32_t i = incoming_.first[node]; i < incoming_.first[node + 1]; ++i)
            needed_.leave_out(edges_[incoming_.items[i]].from); // an edge orders most of the ordered nodes
        conflicts_.clear();
        for (const NeededOrder::After& after : afters) {
            if (needed_.length(after.list) < long_list)
                needed_.add_conflicts(after, conflicts_);
            else
                take_long(after, node);
        }
        add_races(node);
    }

    /// Checks a long list. If all its nodes precede one node, its gate, a path from the gate answers for all of them.
    void take_long(const NeededOrder::After& after, std::uint32_t node) {
        const auto [known, is_new] = gates_.try_emplace(after.list, none);
        if (is_new) known->second = find_gate(after, node);
        if (known->second == none || !precedence().is_known(known->second, node))
            needed_.add_conflicts(after, conflicts_);
    }

    /// The latest predecessor of `node`, if it depends on the whole list; otherwise `none`.
    [[nodiscard]] std::uint32_t find_gate(const NeededOrder::After& after, std::uint32_t node) {
        const std::uint32_t gate = precedence().latest_predecessor(node);
        if (gate == none) return none;
        const bool are_before = needed_.all_of(after.list, [&](std::uint32_t other) {
            return other == gate || (place_[other] < place_[gate] && precedence().is_known(other, gate));
        });
        return are_before ? gate : none;
    }

    void add_races(std::uint32_t node) {
        if (conflicts_.empty()) return;
        unordered_.clear();
        for (const Conflict& conflict : conflicts_)
            unordered_.push_back(accesses_.node_of(conflict.first));
        precedence().remove_ordered(node, unordered_);
        if (unordered_.empty()) return;
        std::ranges::sort(unordered_);
        for (const auto& [first, second] : conflicts_)
            if (std::ranges::binary_search(unordered_, accesses_.node_of(first)))
                races_.push_back({std::min(first, second), std::max(first, second)});
    }

    /// Made on first use, when edges alone do not answer.
    [[nodiscard]] Precedence& precedence() {
        if (!precedence_) precedence_.emplace(edges_, order_, place_);
        return *precedence_;
    }

    const AccessList& accesses_;
    const std::vector<EdgeRecord>& edges_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> place_;
    EdgeGroups incoming_;
    NeededOrder needed_;
    std::optional<Precedence> precedence_;
    std::unordered_map<std::uint32_t, std::uint32_t> gates_; ///< by list: a node after all nodes in it
    std::vector<Conflict> conflicts_;                        ///< of one node
    std::vector<std::uint32_t> unordered_;
    std::vector<Conflict> races_;
};

std::vector<Conflict> search_races(const AccessList& accesses, std::size_t nodes,
                                   const std::vector<EdgeRecord>& edges) {
    std::vector<Conflict> races = RaceSearch(accesses, nodes, edges).run();
    // More accesses conflict if regions are ignored: without a result here there are no races.
    if (races.empty() || !accesses.has_units()) return races;
    races.clear();
    AccessParts(accesses).for_each([&](const AccessList& part, const std::vector<std::uint32_t>& places) {
        for (const auto& [first, second] : RaceSearch(part, nodes, edges).run())
            races.push_back({places[first], places[second]});
    });
    const auto ends = [&](const Conflict& race) {
        return std::pair(accesses.node_of(race.second), accesses.node_of(race.first));
    };
    std::ranges::sort(races, {}, [&](const Conflict& race) { return std::tuple(ends(race), race.first, race.second); });
    const auto repeated = std::unique(races.begin(), races.end(),
                                      [&](const Conflict& a, const Conflict& b) { return ends(a) == ends(b); });
    races.erase(repeated, races.end());
    return races;
}

} // namespace

std::vector<Conflict> find_races(const AccessList& accesses, std::size_t nodes, const std::vector<EdgeRecord>& edges,
                                 std::size_t most) {
    const auto orders = [](const EdgeRecord& edge) { return orders_memory(edge.kind); };
    std::vector<Conflict> races;
    if (std::ranges::all_of(edges, orders)) {
        races = search_races(accesses, nodes, edges);
    } else {
        std::vector<EdgeRecord> ordering;
        std::ranges::copy_if(edges, std::back_inserter(ordering), orders);
        races = search_races(accesses, nodes, ordering);
    }
    std::ranges::sort(races, {}, [&](const Conflict& race) {
        return std::pair(accesses.node_of(race.second), accesses.node_of(race.first));
    });
    races.resize(std::min(races.size(), most));
    return races;
}

} // namespace cudag::detail
