// Runs of the nodes of one launch.
#pragma once

#include "exec_flat.hpp"

namespace cudart_cpu::detail {

/// Runs the work of every node, unless null, after the works of its dependencies. Among the runnable nodes, the earlier
/// one in `order` starts first. A node may run before its producers: cudaGridDependencySynchronize in its kernel runs
/// the awaited ones. One worker runs the nodes in exactly this order, on the calling thread; more run them
/// concurrently, on it and on threads of a pool. Returns when all have ended.
void run_nodes(const LaunchShape& shape, const std::vector<WorkPointer>& works, const std::vector<std::uint32_t>& order,
               unsigned workers) noexcept;

} // namespace cudart_cpu::detail
