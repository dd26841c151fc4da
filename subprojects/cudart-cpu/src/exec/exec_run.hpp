// Runs the nodes of one launch.
#pragma once

#include "exec_flat.hpp"

namespace cudart_cpu::detail {

/// Runs the work of every node, if it is not null, after that of its dependencies; of those that can run, what is
/// earlier in `order` starts first. A node may run before its producers: those that its kernel waits for in
/// cudaGridDependencySynchronize run then. One worker runs the nodes in exactly this order, on the calling thread;
/// more run them at the same time, on it and on threads of a pool. Returns when all have ended.
void run_nodes(const LaunchShape& shape, const std::vector<WorkPointer>& works, const std::vector<std::uint32_t>& order,
               unsigned workers) noexcept;

} // namespace cudart_cpu::detail
