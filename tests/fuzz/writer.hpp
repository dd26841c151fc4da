// Writes plans as cudag graphs: node by node, out of streams, or both.
#pragma once

#include "bench.hpp"
#include "inject.hpp"
#include "plan.hpp"
#include "random.hpp"

#include <cudag/cudag.hpp>

#include <optional>
#include <vector>

/// Of the steps, by id.
using Nodes = std::vector<cudag::Node>;

struct WriteOptions {
    unsigned failing_regions = 0; ///< in percent, before each step
    unsigned removals = 0;        ///< the same: a node that is taken back
    bool labels = false;          ///< all nodes are labelled, "s" and their id
};

/// A graph of `plan`. The nodes of a graph that was captured as a whole are not looked at: see `captured_nodes`.
cudag::Graph write_graph(Bench& bench, const Plan& plan, const Values& values, Nodes& nodes,
                         const WriteOptions& options, Random& random, Injector& injector);
/// A graph of one level of it.
cudag::Graph write_level(Bench& bench, const Plan& plan, const Level& level, const Values& values, Nodes& nodes,
                         const WriteOptions& options, Random& random, Injector& injector);

/// The nodes of the steps of a level that was captured as a whole.
void captured_nodes(const Level& level, const std::vector<cudag::Node>& in_order, Nodes& nodes);
