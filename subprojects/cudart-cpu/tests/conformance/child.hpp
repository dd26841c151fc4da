// Child graph nodes: added, and the graph inside.
#pragma once

#include "nodes.hpp"

inline cudaGraphNode_t add_child(cudaGraph_t graph, cudaGraph_t child, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddChildGraphNode(&node, graph, after.data(), after.size(), child));
    return node;
}

inline cudaGraph_t graph_inside(cudaGraphNode_t node) {
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphChildGraphNodeGetGraph(node, &graph));
    return graph;
}

/// The node of the graph inside `parent` that is the clone of `original`.
inline cudaGraphNode_t node_inside(cudaGraphNode_t parent, cudaGraphNode_t original) {
    return in_clone(original, graph_inside(parent));
}

inline cudaGraphNodeParams child_params(cudaGraph_t child) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = child;
    return params;
}
