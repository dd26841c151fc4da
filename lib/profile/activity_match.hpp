// The nodes of activity records: CUPTI numbers the nodes of an exec.
#pragma once

#include "profile_summary.hpp"
#include "run_record.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The operation of an activity record.
enum class Activity : char { kernel, copy, fill };

/// One run of a node of an exec, as CUPTI records it.
struct NodeActivity {
    std::uint32_t number; ///< of the node in the exec
    std::uint32_t call;   ///< number of the launch's call; later calls have greater numbers. 0: unknown, in bodies
    Activity activity;    ///< some copies and fills are kernels
    std::string kernel;   ///< name of the kernel, without parameters
    std::uint64_t begin;  ///< in nanoseconds; 0 if the body of the node did not run
    std::uint64_t end;
};

/// The kernel added by plans, which has no node in a Graph.
inline constexpr std::string_view kernel_of_plans = "cudag_nothing";

/// Returns the runs of the profiled nodes. `outermost`: the numbers of the nodes outside of others, with their indices;
/// the exec keeps these numbers. It numbers the nodes inside others after them, in the order of
/// `ProfiledNodes::inner`. The first of these numbers is unknown, because removed nodes had numbers, too: the kinds and
/// kernels of the records decide. Nodes inside others have no runs if they do not fit. `marks`: the times between
/// launches, one before each; if empty, the calls separate the launches.
[[nodiscard]] std::vector<RunRecord>
match_activities(const ProfiledNodes& profiled, const std::vector<std::pair<std::uint32_t, std::size_t>>& outermost,
                 std::vector<NodeActivity>&& activities, std::vector<std::uint64_t>&& marks = {});

} // namespace cudag::detail
