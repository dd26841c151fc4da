// The order in which a launch starts its nodes.
#pragma once

#include "exec_flat.hpp"
#include "runtime/schedule.hpp"

namespace cudart_cpu::detail {

/// Draws a priority for each node. The next node is the one with the highest priority among the nodes whose
/// dependencies are in the order already, and whose producers could come next too. So a whole branch may come before or
/// after another, and a forgotten edge is noticed. UseNodePriority does not count: on a GPU it is a hint, and a program
/// that needs it as an order is wrong.
std::vector<std::uint32_t> draw_order(const LaunchShape& shape, Draw draw);

} // namespace cudart_cpu::detail
