// The nodes of a graph, written again: into a graph under construction, or as a copy of the whole graph.
#pragma once

#include "graph/in_force.hpp"

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <string_view>

namespace cudag::detail {

class GraphState;

/// The state in which nodes are written: by default that of their graph.
struct StateToWrite {
    const InForce& in_force = graph_in_force;
    cudaGraphExec_t exec = nullptr; ///< its disabled nodes become empty nodes; null: all nodes are enabled
};

/// Writes the nodes of `original`, a root, again into `graph`, with edges, labels, accesses and owners: node i becomes
/// node `first + i`, where `first` is the number of nodes before. Throws GraphError, naming `action`, and then adds
/// nothing, unless `original` has graph memory nodes and CUDA refuses a node: CUDA removes no nodes then, and `build()`
/// refuses the graph. Nor does CUDA remove any during a capture of `graph`, whose end removes them. Needs the lock of
/// `original`, which must be read.
void write_again(GraphState& graph, GraphState& original, std::string_view action, const SourceLocation& where,
                 const StateToWrite& state = {});

/// Makes a clone of `original`, a root, by writing its nodes again, for graphs that CUDA cannot clone. The clone has
/// the same handles for nodes as one made by CUDA. Throws GraphError. Needs the lock of `original`, which must be read.
[[nodiscard]] std::shared_ptr<GraphState> written_clone(GraphState& original, std::string_view action,
                                                        const SourceLocation& where);

} // namespace cudag::detail
