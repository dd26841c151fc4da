// Updates of an exec by the nodes in which a graph differs from it, where these are few.
#pragma once

#include "exec_state.hpp"

#include <memory>

namespace cudag::detail {

/// Gives the exec, whose nodes nobody else updates, what differs in `graph`, node by node, where that costs less than
/// to give CUDA all of it: in few nodes or none, which CUDA is not told of at all. False, and nothing has changed,
/// where it is to take the whole graph: more differs, or what no update of a node can change, or owners come or go,
/// which CUDA keeps for launches in flight only then.
[[nodiscard]] bool update_few(ExecState& exec, const std::shared_ptr<GraphState>& graph);

} // namespace cudag::detail
