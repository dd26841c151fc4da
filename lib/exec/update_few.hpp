// Updates of an exec by the nodes in which a graph differs from it, where these are few.
#pragma once

#include "exec_state.hpp"

namespace cudag::detail {

/// Whether no owners come or go with `graph`: CUDA keeps those of whole graphs for launches in flight.
[[nodiscard]] bool have_no_owners(const ExecState& exec, const GraphState& graph);

/// Gives the exec, whose nodes nobody else updates, what differs in `graph`, node by node, where that costs less than
/// to give CUDA all of it: in few nodes or none, which CUDA is not told of at all. False, and nothing has changed,
/// where it is to take the whole graph: more differs, or what no update of a node can change. Both must
/// `have_no_owners`.
[[nodiscard]] bool update_few(ExecState& exec, const GraphState& graph);

} // namespace cudag::detail
