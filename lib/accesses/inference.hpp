// The edges that nodes need because of what they do to memory, in the order in which they were added.
#pragma once

#include "access_list.hpp"
#include "edges/edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cudag::detail {

/// What inference is told besides accesses and edges.
struct InferenceRules {
    /// By node, or empty: nodes that come after all nodes with lower numbers, and before all with higher numbers.
    std::vector<bool> keeps_place = {};
    /// By node, or empty: nodes to which edges lead that are not full. No join leads to them.
    std::vector<bool> has_early = {};
    /// By node, or empty: nodes without accesses and edges that take no part in this.
    std::vector<bool> left_out = {};
    /// A join stands between so many nodes and as many others, or more, if each of those comes after each of these.
    std::uint32_t joins_from = std::numeric_limits<std::uint32_t>::max();
};

struct InferredOrder {
    std::vector<EdgeRecord> edges;
    /// One for each join, with numbers above those of all nodes: the first node after it.
    std::vector<std::uint32_t> joins = {};
};

/// The full edges that a program needs so that nodes with higher numbers see what those with lower numbers did: to what
/// reads, from the last writer; to what writes, from all that read since the last writer, or from that if none did; and
/// likewise between accesses that commute and others. By `to`, then by `from`, each once, also those that others imply,
/// but none that a node which keeps its place implies. None between nodes that have an edge in `edges` already, of
/// whatever kind.
///
/// With these edges there are no races, except of nodes that `edges` order by launch completion only: only where there
/// are such edges, find_races has something to find.
///
/// `accesses` are by node in ascending order, and all `edges` lead forward. Takes what needed_order takes, and edges.
/// Where each of n nodes comes before each of m others, a join makes n + m edges of n * m.
[[nodiscard]] InferredOrder inferred_order(const AccessList& accesses, std::size_t nodes,
                                           const std::vector<EdgeRecord>& edges, const InferenceRules& rules = {});

} // namespace cudag::detail
