// Runs of conditional nodes.
#pragma once

#include "exec_flat.hpp"

#include <functional>

namespace cudart_cpu::detail {

/// Runs a body to its end.
using RunBody = std::function<void(const std::shared_ptr<const LaunchGraph>&)>;

/// The work of a launch for the conditional `node`. Both arguments must outlive it.
WorkPointer conditional_run(const LaunchNode& node, const RunBody& run_body);

} // namespace cudart_cpu::detail
