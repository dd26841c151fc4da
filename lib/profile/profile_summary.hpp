// The summary of run records: a Profile.
#pragma once

#include "run_record.hpp"

#include <cudag/profile.hpp>

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// The nodes of a profile, still without times.
struct ProfiledNodes {
    std::vector<NodeProfile> nodes{};               ///< each followed by the nodes inside it
    std::vector<std::vector<std::size_t>> before{}; ///< direct predecessors, by the plan's edges, too
};

/// Summarises the records of `launches` launches. Records of nodes with others inside are ignored: their times are
/// those of the nodes inside.
[[nodiscard]] Profile summarise(ProfileSource source, std::size_t launches, ProfiledNodes&& profiled,
                                std::vector<RunRecord>&& records);

} // namespace cudag::detail
