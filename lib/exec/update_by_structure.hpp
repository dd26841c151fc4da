// Updates of an exec by graphs with another order of nodes.
#pragma once

#include "exec_state.hpp"

#include <cudag/update_options.hpp>
#include <cudag/update_report.hpp>

#include <memory>

namespace cudag::detail {

/// Updates the nodes of the exec that differ in `graph`, one by one, all or none. If that is not enough, but the order
/// is the same, makes a whole update; so it does at once for a captured graph in the same order, which costs less.
[[nodiscard]] UpdateReport update_by_structure(ExecState& exec, const std::shared_ptr<GraphState>& graph,
                                               const UpdateOptions& options);

} // namespace cudag::detail
