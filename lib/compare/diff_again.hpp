// Comparison of a graph with another recording of the same function.
#pragma once

#include "graph/in_force.hpp"
#include "memory_pairs.hpp"

#include <cudag/diff.hpp>

#include <vector>

namespace cudag::detail {

class GraphState;

/// Compares `before`, with the parameters of `in_force`, with `after`, recorded again by the same function. Addresses
/// in `pairs` are equal, and so are those in memory allocated by corresponding nodes of the graphs. Does not compare
/// the data of host functions. Reports differing nodes and edges alone if the nodes do not correspond. Needs the locks
/// of both graphs. Throws GraphError.
[[nodiscard]] std::vector<Difference> diff_again(const GraphState& before, const InForce& in_force,
                                                 const GraphState& after, MemoryPairs pairs);

} // namespace cudag::detail
