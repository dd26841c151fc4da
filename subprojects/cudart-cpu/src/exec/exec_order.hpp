// The order in which a launch starts its nodes.
#pragma once

#include "exec_flat.hpp"
#include "runtime/schedule.hpp"

namespace cudart_cpu::detail {

/// Each node draws a priority; of the nodes whose dependencies are in the order already, and whose producers could come
/// next too, the one with the highest comes next. So a whole branch may come before or after another, and an edge that
/// was forgotten is noticed. UseNodePriority does not weigh in: on a GPU it is a hint, and a program that needs it as
/// an order is wrong.
std::vector<std::uint32_t> draw_order(const LaunchShape& shape, Draw draw);

} // namespace cudart_cpu::detail
