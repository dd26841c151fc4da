// What a launch runs: an exec's graph with its child graphs laid into it.
#pragma once

#include "exec_model.hpp"

#include <string>

namespace cudart_cpu::detail {

/// Lists of nodes, one list for each node. A node runs after its dependencies. A consumer may start as soon as its
/// producer may: the edge between them says to wait for less than all of the producer. It ends after its producers, as
/// on a GPU.
struct LaunchShape {
    Adjacency dependencies;
    Adjacency dependents;
    Adjacency producers;
    Adjacency consumers;
    Adjacency awaited; // the producers that cudaGridDependencySynchronize waits for
};

struct LaunchNode {
    WorkPointer work; // null at the end of a child graph
    bool enabled = true;
    std::uint32_t number = 0; // in its own graph
    std::uint32_t child = 0;  // the node at which the child graph begins that it is in; its own place if it is in none
    std::vector<std::shared_ptr<const LaunchGraph>> bodies{}; // of which the work decides what runs
    std::shared_ptr<const DeclaredNode> declared{};
};

/// A staged copy that comes after copies that hold up the call.
struct LateNode {
    std::uint32_t node;
    std::vector<std::uint32_t> after; // those copies, by their places in LaunchGraph::holding
};

/// A child graph's node is where it begins; one node more is where it ends. So nodes that are not ordered with the
/// child graph run between its nodes too.
struct LaunchGraph {
    LaunchShape shape;
    std::vector<LaunchNode> nodes;
    /// The enabled nodes whose work is staged; event records last, since a launch's waits are not for its own records.
    std::vector<std::uint32_t> staged;
    std::vector<std::uint32_t> holding; // the enabled nodes whose end the call of a launch waits for
    std::vector<LateNode> late;         // what would be staged, but for them
};

/// `is_body`: of a conditional.
std::shared_ptr<const LaunchGraph> flatten(const ExecGraph& graph, bool is_body = false);

/// "2: kernel scale", in the child graph of node 1 "1/2: kernel scale"; empty for the end of a child graph.
std::string name_of(const LaunchGraph& graph, std::uint32_t node);

} // namespace cudart_cpu::detail
