// Updates of an exec by graphs whose nodes come in another order.
#pragma once

#include "exec_state.hpp"

#include <cudag/update_report.hpp>

#include <memory>

namespace cudag::detail {

/// Gives the exec what differs in `graph`, node by node, all or nothing. Where that is not enough, but the order is the
/// same, updates it as a whole.
[[nodiscard]] UpdateReport update_by_structure(ExecState& exec, const std::shared_ptr<GraphState>& graph);

} // namespace cudag::detail
