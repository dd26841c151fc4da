// What graphs are called in logs.
#pragma once

#include <string>

namespace cudag::detail {

class GraphState;

/// "3 nodes (2 kernel, 1 memcpy)", without those of graphs inside nodes.
[[nodiscard]] std::string count_nodes(const GraphState& graph);

} // namespace cudag::detail
