// Inference of edges from memory accesses, in the order of addition.
#pragma once

#include "access_list.hpp"
#include "edges/edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cudag::detail {

/// The rules of inference, in addition to accesses and edges.
struct InferenceRules {
    /// By node, or empty: nodes after all nodes with lower numbers, and before all with higher numbers.
    std::vector<bool> keeps_place = {};
    /// By node, or empty: nodes with incoming edges other than full. No join leads to them.
    std::vector<bool> has_early = {};
    /// By node, or empty: nodes without accesses and edges, excluded from inference.
    std::vector<bool> left_out = {};
    /// A join replaces the edges between at least this many nodes and at least as many successors, if each successor
    /// depends on each of the nodes.
    std::uint32_t joins_from = std::numeric_limits<std::uint32_t>::max();
};

struct InferredOrder {
    std::vector<EdgeRecord> edges;
    /// One entry for each join: its first successor. Joins are numbered above all nodes.
    std::vector<std::uint32_t> joins = {};
};

/// Infers the full edges that let nodes with higher numbers see the effects of nodes with lower numbers: to a reader,
/// from the last writer; to a writer, from all readers since the last writer, or from that writer if there are none;
/// and likewise between accesses that commute and others. The edges are sorted by `to`, then by `from`, each once. They
/// include edges implied by others, but none implied by a node that keeps its place, and none between nodes with an
/// edge of any kind in `edges`.
///
/// With these edges the only possible races are between nodes ordered by launch completion alone: find_races is needed
/// only if `edges` has such edges.
///
/// `accesses` are by node in ascending order, and all `edges` lead forward. Takes as long as needed_order, plus edges.
/// If each of n nodes precedes each of m others, a join reduces n * m edges to n + m.
[[nodiscard]] InferredOrder inferred_order(const AccessList& accesses, std::size_t nodes,
                                           const std::vector<EdgeRecord>& edges, const InferenceRules& rules = {});

} // namespace cudag::detail
