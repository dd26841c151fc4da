// Lanes: which nodes come after each other, beyond what the edges say, so that fewer run at once.
#pragma once

#include "edges/edge_record.hpp"
#include "lane_costs.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// What to lay on lanes, in each of which one node comes after the other.
struct LaneInput {
    std::size_t nodes;
    const std::vector<EdgeRecord>& edges; ///< they close no cycle
    const std::vector<bool>& is_off;      ///< by node: it has no place on a lane, and takes no time; empty if none has
    /// By node: the number of its device; empty if all are on one. No lane has nodes of two devices.
    const std::vector<std::uint32_t>& devices;
    const std::vector<double>& durations; ///< by node, in microseconds; empty if all are alike
    std::size_t at_most;                  ///< so many lanes of each device; 0: any number
    const LaneCosts& costs;
};

struct Lanes {
    std::vector<EdgeRecord> edges; ///< those that are new: with the others, they close no cycle
    std::size_t count;             ///< of each device, at most
};

/// Lays whole chains of nodes on lanes: those whose ends are latest first, each where it can begin first. With
/// durations on as many lanes as end soonest by the costs, else on `at_most`. Nothing if no more of them can run at
/// once anyway, or by the costs it gains little. Takes (nodes + edges) * log(nodes) of time, and with durations that
/// once for each doubling of the lanes.
[[nodiscard]] std::optional<Lanes> plan_lanes(const LaneInput& input);

} // namespace cudag::detail
