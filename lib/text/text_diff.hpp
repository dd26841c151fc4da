// Differences between a graph and an earlier text.
#pragma once

#include "graph_document.hpp"

#include <cudag/diff.hpp>

#include <vector>

namespace cudag::detail {

class GraphState;

/// Compares `graph`, described by `document`, with the document of a text.
[[nodiscard]] std::vector<Difference> diff_document(const GraphState& graph, const GraphDocument& document,
                                                    const GraphDocument& text);

} // namespace cudag::detail
