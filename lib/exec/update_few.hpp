// Updates of an exec by the differing nodes of a graph, if they are few.
#pragma once

#include "exec_state.hpp"

#include <memory>

namespace cudag::detail {

/// Updates the exec to `graph` node by node, if cheaper than a whole update: if few nodes differ, or none, without any
/// call of CUDA. Nobody else may update nodes of the exec. Returns false, and changes nothing, if a whole update is
/// needed: more nodes differ, a change is impossible in an update of one node, or owners come or go (only a whole
/// update keeps them for launches in flight).
[[nodiscard]] bool update_few(ExecState& exec, const std::shared_ptr<GraphState>& graph);

} // namespace cudag::detail
