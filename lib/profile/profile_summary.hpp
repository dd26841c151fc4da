// The summary of run records: a Profile.
#pragma once

#include "run_record.hpp"

#include <cudag/profile.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cudag::detail {

/// A graph inside a node.
struct InnerGraph {
    std::vector<std::size_t> nodes{}; ///< indices of its nodes
    std::size_t kernels = 0;          ///< number of kernels added by the plan
};

/// The nodes of a profile, still without times.
struct ProfiledNodes {
    std::vector<NodeProfile> nodes{};               ///< each followed by the nodes inside it
    std::vector<std::vector<std::size_t>> before{}; ///< direct predecessors, by the plan's edges, too
    std::vector<bool> is_loop{};                    ///< by node
    std::vector<InnerGraph> inner{};                ///< those of a node, then those inside these
};

/// The turns of a loop that a source of times records.
enum class Turns : char { all, last };

/// The nodes that a source of times records.
enum class Scope : char {
    inside,    ///< those without others inside; a node around others has their times
    outermost, ///< those outside of others
};

/// The origin of run records.
struct Recording {
    ProfileSource source = ProfileSource::cpu_runtime;
    std::size_t launches = 1;
    Turns turns = Turns::all;
    Scope scope = Scope::inside;
    std::string remark{}; ///< see Profile::remark
};

/// Summarises the records of launches. With `Turns::last`, a loop runs from the end of its predecessors.
[[nodiscard]] Profile summarise(Recording&& recording, ProfiledNodes&& profiled, std::vector<RunRecord>&& records);

} // namespace cudag::detail
