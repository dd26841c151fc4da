// The document of a graph.
#pragma once

#include "graph_document.hpp"
#include "name_book.hpp"

namespace cudag::detail {

class GraphState;

/// Describes all nodes of the root `graph` and of the graphs inside it, which must be read. Requires its lock.
[[nodiscard]] GraphDocument document_of(const GraphState& graph, NameBook& names);

} // namespace cudag::detail
