// The graph of a launch: an exec's graph with its child graphs laid into it.
#pragma once

#include "exec_model.hpp"

#include <string>

namespace cudart_cpu::detail {

/// Lists of nodes, one list for each node. A node runs after its dependencies. A consumer may start as soon as its
/// producer may: the edge between them waits for only a part of the producer. It ends after its producers, as on a GPU.
struct LaunchShape {
    Adjacency dependencies;
    Adjacency dependents;
    Adjacency producers;
    Adjacency consumers;
    Adjacency awaited; // the producers for which cudaGridDependencySynchronize waits
};

struct LaunchNode {
    WorkPointer work; // null at the end of a child graph
    bool enabled = true;
    std::uint32_t number = 0; // the index in its own graph
    std::uint32_t child = 0;  // the beginning of the child graph around it; its own place outside child graphs
    std::vector<std::shared_ptr<const LaunchGraph>> bodies{}; // the work decides which ones run
    std::shared_ptr<const DeclaredNode> declared{};
    std::shared_ptr<const std::string> waits{};
    cudaGraphNode_t source = nullptr; // the node of the instantiated graph; null at the end of a child graph
};

/// A staged copy after copies that hold up the call.
struct LateNode {
    std::uint32_t node;
    std::vector<std::uint32_t> after; // places of the earlier copies in LaunchGraph::holding
};

/// A child graph's node is its beginning; one additional node is its end. So nodes not ordered with the child graph run
/// between its nodes too.
struct LaunchGraph {
    LaunchShape shape;
    std::vector<LaunchNode> nodes;
    /// The enabled nodes with staged work. Event records come last: the launch's waits must not find its own records.
    std::vector<std::uint32_t> staged;
    std::vector<std::uint32_t> holding; // the enabled nodes for whose end the call of a launch waits
    std::vector<LateNode> late;         // staged copies after those in `holding`; not in `staged`
};

/// `is_body`: the graph is a body of a conditional node.
std::shared_ptr<const LaunchGraph> flatten(const ExecGraph& graph, bool is_body = false);

/// The name of a node, "2: kernel scale", or "1/2: kernel scale" in the child graph of node 1. Empty for the end of a
/// child graph.
std::string name_of(const LaunchGraph& graph, std::uint32_t node);

} // namespace cudart_cpu::detail
