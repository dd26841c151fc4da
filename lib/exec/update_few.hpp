// Updates of an exec by the nodes in which a graph differs from it, where these are few.
#pragma once

#include "exec_state.hpp"

#include <memory>

namespace cudag::detail {

enum class UpdateOfFew {
    done,
    has_owners, ///< they come or go with the graph: CUDA keeps those of whole graphs for launches in flight
    differs     ///< in more than few nodes, or in what no update of a node can change
};

/// Gives the exec, whose nodes nobody else updates, what differs in `graph`, node by node, where that costs less than
/// to give CUDA all of it: in few nodes or none, which CUDA is not told of at all. Unless it is done, nothing has
/// changed, and CUDA is to take the whole graph.
[[nodiscard]] UpdateOfFew update_few(ExecState& exec, const std::shared_ptr<GraphState>& graph);

} // namespace cudag::detail
