// Lanes: added order between nodes, so that fewer run at once.
#pragma once

#include "edges/edge_record.hpp"
#include "lane_costs.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// The nodes to lay on lanes. The nodes of a lane run one after the other.
struct LaneInput {
    std::size_t nodes;
    const std::vector<EdgeRecord>& edges; ///< acyclic
    const std::vector<bool>& is_off;      ///< by node: it has no place on a lane and takes no time; empty if there is
                                          ///< no such node
    /// By node: the number of its device; empty if all are on one. A lane has nodes of one device only.
    const std::vector<std::uint32_t>& devices;
    const std::vector<double>& durations; ///< by node, in microseconds; empty if all are alike
    std::size_t at_most;                  ///< limit of the lanes of each device; 0: any number
    const LaneCosts& costs;
};

struct Lanes {
    std::vector<EdgeRecord> edges; ///< only the new ones; acyclic together with the others
    std::size_t count;             ///< the most lanes of one device
};

/// Lays whole chains of nodes on lanes: chains with the longest way to the end first, each on the lane where it can
/// begin first. With durations, the number of lanes is the one with the earliest end by the costs; without, it is
/// `at_most`. Returns nothing if no more nodes can run at once anyway, or if the gain by the costs is small. Takes
/// (nodes + edges) * log(nodes), with durations once for each doubling of the lanes.
[[nodiscard]] std::optional<Lanes> plan_lanes(const LaneInput& input);

} // namespace cudag::detail
