// Relaxation: the part of a graph's order that its memory accesses need.
#include "relaxation.hpp"

#include "access_parts.hpp"
#include "edges/edge_groups.hpp"
#include "edges/edges.hpp"
#include "edges/precedence.hpp"
#include "edges/program_order.hpp"
#include "edges/reduction.hpp"
#include "edges/topological_order.hpp"
#include "lists/none.hpp"
#include "needed_order.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

/// The full edges of a graph, seen from its first nodes, or from its last ones.
struct Direction {
    std::vector<EdgeRecord> edges;
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> place = places_in(order);
};

Direction reversed(const Direction& direction) {
    std::vector<EdgeRecord> edges = direction.edges;
    for (EdgeRecord& edge : edges)
        std::swap(edge.from, edge.to);
    return {std::move(edges), {direction.order.rbegin(), direction.order.rend()}};
}

/// Finds the last staying nodes before each node.
class LastStaying {
  public:
    LastStaying(const Direction& direction, const std::vector<bool>& stays)
        : direction_(direction), stays_(stays), precedence_(direction.edges, direction.order, direction.place),
          incoming_(stays.size(), direction.edges, &EdgeRecord::to), last_(stays.size()), seen_by_(stays.size(), none) {
    }

    /// Requires calls in order of the nodes.
    [[nodiscard]] const std::vector<std::uint32_t>& take(std::uint32_t node) {
        std::vector<std::uint32_t>& last = last_[node];
        std::vector<std::uint32_t> inherited;
        const auto for_each_before = [&](const auto& use) {
            for (std::uint32_t i = incoming_.first[node]; i < incoming_.first[node + 1]; ++i)
                use(direction_.edges[incoming_.items[i]].from);
        };
        const auto add = [&](std::vector<std::uint32_t>& list, std::uint32_t staying) {
            if (std::exchange(seen_by_[staying], node) != node) list.push_back(staying);
        };
        for_each_before([&](std::uint32_t before) {
            if (stays_[before]) add(last, before);
        });
        for_each_before([&](std::uint32_t before) {
            if (stays_[before]) return;
            for (const std::uint32_t staying : last_[before])
                add(inherited, staying);
        });
        add_latest(last, std::move(inherited));
        return last;
    }

  private:
    /// Adds to `list` the nodes of `more` without a path to another node in either.
    void add_latest(std::vector<std::uint32_t>& list, std::vector<std::uint32_t> more) {
        const auto& place = direction_.place;
        const auto keep_others = [&](std::uint32_t later) {
            std::vector<std::uint32_t> earlier, others;
            for (const std::uint32_t staying : more)
                (place[staying] < place[later] ? earlier : others).push_back(staying);
            precedence_.remove_ordered(later, earlier);
            more = std::move(others);
            more.insert(more.end(), earlier.begin(), earlier.end());
        };
        for (std::size_t i = 0; i < list.size() && !more.empty(); ++i)
            keep_others(list[i]);
        while (!more.empty()) {
            const auto latest = std::ranges::max_element(more, {}, [&](std::uint32_t node) { return place[node]; });
            list.push_back(*latest);
            more.erase(latest);
            if (!more.empty()) keep_others(list.back());
        }
    }

    const Direction& direction_;
    const std::vector<bool>& stays_;
    Precedence precedence_;
    EdgeGroups incoming_;
    std::vector<std::vector<std::uint32_t>> last_; ///< by node
    std::vector<std::uint32_t> seen_by_;           ///< by staying node: the last node that has found it
};

/// Adds edges between conflicting accesses, in the order of `direction`.
void add_conflicts(const AccessList& accesses, const Direction& direction, std::vector<EdgeRecord>& edges) {
    NeededOrder needed(accesses, direction.order.size());
    Precedence precedence(direction.edges, direction.order, direction.place);
    std::vector<Conflict> conflicts; // of one node
    std::vector<std::uint32_t> unordered;
    for (const std::uint32_t node : direction.order) {
        conflicts.clear();
        unordered.clear();
        for (const NeededOrder::After& after : needed.take(node))
            needed.add_conflicts(after, conflicts);
        for (const Conflict& conflict : conflicts)
            unordered.push_back(accesses.node_of(conflict.first));
        precedence.remove_ordered(node, unordered); // edges other than full order the remaining ones
        std::ranges::sort(unordered);
        for (const Conflict& conflict : conflicts)
            if (const std::uint32_t from = accesses.node_of(conflict.first);
                !std::ranges::binary_search(unordered, from))
                edges.push_back({from, node});
    }
}

/// The edges that order nodes within regions; nothing if a path leads from a region through other nodes back to it.
std::optional<std::vector<EdgeRecord>> edges_inside(const std::vector<EdgeRecord>& edges,
                                                    const std::vector<RegionPart>& parts) {
    std::unordered_map<std::uint32_t, std::uint32_t> first; // by region: its first node
    std::vector<std::uint32_t> unit(parts.size());
    for (std::uint32_t node = 0; node < parts.size(); ++node)
        unit[node] = parts[node].region == 0 ? node : first.try_emplace(parts[node].region, node).first->second;
    std::vector<EdgeRecord> inside;
    Edges between;
    for (const EdgeRecord& edge : edges)
        if (unit[edge.from] == unit[edge.to])
            inside.push_back(edge);
        else
            between.add({unit[edge.from], unit[edge.to]});
    if (!between.find_cycle(parts.size()).empty()) return std::nullopt;
    return inside;
}

/// Nodes with accesses declared by regions, and other nodes of these regions that use the declared memory.
std::vector<bool> nodes_of_declarations(const AccessList& accesses, const std::vector<RegionPart>& parts) {
    const auto access_at = [&](std::size_t i) { // as if of no region
        return MemoryAccess{accesses.node_of(i), accesses.order_of(i).mode, accesses.blocks()[accesses.block_of(i)]};
    };
    std::unordered_map<std::uint32_t, std::vector<MemoryAccess>> declared_by; // each once
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const std::uint32_t region = accesses[i].unit;
        if (region == 0) continue;
        std::vector<MemoryAccess>& all = declared_by[region];
        const MemoryAccess access = access_at(i);
        const auto is_same = [&](const MemoryAccess& other) {
            return other.mode == access.mode && other.block == access.block;
        };
        if (std::ranges::none_of(all, is_same)) all.push_back(access);
    }
    std::vector<bool> found;
    for (const RegionPart& part : parts)
        found.push_back(part.is_declared);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const std::uint32_t region = accesses[i].part_of;
        const auto declared = region == 0 ? declared_by.end() : declared_by.find(region);
        if (declared == declared_by.end() || found[accesses.node_of(i)]) continue;
        const MemoryAccess access = access_at(i);
        found[access.node] =
            std::ranges::any_of(declared->second, [&](const MemoryAccess& other) { return conflicts(other, access); });
    }
    return found;
}

/// Adds the order among nodes with declared accesses, and nodes that use the same memory.
void add_order_of_regions(const AccessList& accesses, const std::vector<RegionPart>& parts, const Direction& forward,
                          std::vector<bool>& stays, std::vector<EdgeRecord>& relaxed) {
    const std::vector<bool> declared = nodes_of_declarations(accesses, parts);
    if (std::ranges::find(declared, true) == declared.end()) return;
    std::optional<std::vector<EdgeRecord>> inside = edges_inside(forward.edges, parts);
    if (!inside) {
        for (std::size_t node = 0; node < parts.size(); ++node)
            stays[node] = stays[node] || declared[node];
        return;
    }
    const Direction regions{*std::move(inside), forward.order};
    LastStaying before(regions, declared);
    for (const std::uint32_t node : regions.order)
        for (const std::uint32_t earlier : before.take(node))
            if (declared[node]) relaxed.push_back({earlier, node});
}

/// Adds the edges from and to staying nodes.
void add_staying(const std::vector<bool>& stays, const Direction& forward, std::vector<EdgeRecord>& edges) {
    LastStaying before(forward, stays);
    for (const std::uint32_t node : forward.order)
        for (const std::uint32_t staying : before.take(node))
            edges.push_back({staying, node});
    const Direction backward = reversed(forward);
    LastStaying after(backward, stays);
    for (const std::uint32_t node : backward.order)
        for (const std::uint32_t staying : after.take(node))
            edges.push_back({node, staying});
}

} // namespace

std::vector<EdgeRecord> relaxed_edges(const AccessList& accesses, std::size_t nodes,
                                      const std::vector<EdgeRecord>& edges, std::vector<bool> stays,
                                      const std::vector<RegionPart>& parts) {
    Direction forward{{}, program_order(nodes, edges)};
    std::vector<EdgeRecord> early;
    for (const EdgeRecord& edge : edges) {
        if (edge.kind == EdgeKind::full) {
            forward.edges.push_back(edge);
        } else {
            early.push_back(edge);
            stays[edge.from] = stays[edge.to] = true;
        }
    }
    std::vector<EdgeRecord> relaxed;
    if (accesses.has_units())
        AccessParts(accesses).for_each(
            [&](const AccessList& part, const auto&) { add_conflicts(part, forward, relaxed); });
    else
        add_conflicts(accesses, forward, relaxed);
    add_order_of_regions(accesses, parts, forward, stays, relaxed);
    if (std::ranges::find(stays, true) != stays.end()) add_staying(stays, forward, relaxed);
    std::ranges::sort(relaxed, edge_precedes);
    relaxed.erase(std::unique(relaxed.begin(), relaxed.end()), relaxed.end());
    relaxed = reduced(nodes, relaxed);
    relaxed.insert(relaxed.end(), early.begin(), early.end());
    std::ranges::sort(relaxed, edge_precedes);
    return relaxed;
}

std::size_t longest_path(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    const EdgeGroups outgoing(nodes, edges, &EdgeRecord::from);
    std::vector<std::size_t> length(nodes, 1);
    std::size_t longest = 0;
    for (const std::uint32_t node : topological_order(edges, outgoing)) {
        longest = std::max(longest, length[node]);
        for (std::uint32_t i = outgoing.first[node]; i < outgoing.first[node + 1]; ++i) {
            std::size_t& next = length[edges[outgoing.items[i]].to];
            next = std::max(next, length[node] + 1);
        }
    }
    return longest;
}

} // namespace cudag::detail
