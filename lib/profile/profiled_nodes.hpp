// The nodes of an exec, for a profile.
#pragma once

#include "profile_summary.hpp"
#include "time_source.hpp"

namespace cudag::detail {

class ExecState;

/// The nodes of an exec with their handles, in one order.
struct ExecNodes {
    ProfiledNodes profiled{};
    NativeNodes natives;
};

/// Describes the nodes of `exec`, nodes inside others included. Reads a captured graph. Takes the graph's lock.
[[nodiscard]] ExecNodes nodes_of(const ExecState& exec);

} // namespace cudag::detail
