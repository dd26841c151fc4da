// Names of graphs in logs.
#pragma once

#include <string>

namespace cudag::detail {

class GraphState;

/// Counts the nodes: "3 nodes (2 kernel, 1 memcpy)", without those of graphs inside.
[[nodiscard]] std::string count_nodes(const GraphState& graph);

} // namespace cudag::detail
