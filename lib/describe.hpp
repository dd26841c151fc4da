// Records of nodes that cudag did not make: those of adopted graphs, and those that captures add.
#pragma once

#include "graph_state.hpp"

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace cudag::detail {

/// Describes the nodes that CUDA's graph has from number `first_native` on, in CUDA's order, and appends them to
/// `graph`, with the edges that lead to them, which count as written. Those before are the ones that `graph` has
/// records of; their number is `graph.natives().size()` where no node was left over. Each record gets `label`, "" for
/// none, and `location`. Throws GraphError if CUDA cannot describe a node, and then changes nothing in `graph`: what
/// becomes of CUDA's nodes is up to the caller.
void describe_new_nodes(GraphState& graph, std::size_t first_native, std::string_view label = {},
                        const SourceLocation& location = {});

/// A built graph that owns `native`, and describes all that is in it. Throws GraphError, and leaves `native` to the
/// caller, if CUDA cannot describe it.
[[nodiscard]] std::shared_ptr<GraphState> describe_graph(cudaGraph_t native, const SourceLocation& location = {});

} // namespace cudag::detail
