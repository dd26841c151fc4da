// Updates of an exec by graphs with another order of nodes.
#pragma once

#include "exec_state.hpp"

#include <cudag/update_report.hpp>

#include <memory>

namespace cudag::detail {

/// Updates the nodes of the exec that differ in `graph`, one by one, all or none. If that is not enough, but the order
/// is the same, makes a whole update.
[[nodiscard]] UpdateReport update_by_structure(ExecState& exec, const std::shared_ptr<GraphState>& graph);

} // namespace cudag::detail
