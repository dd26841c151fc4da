// Comparison of an exec's effective state with a graph.
#pragma once

#include "compare/memory_pairs.hpp"

#include <cudag/diff.hpp>

#include <vector>

namespace cudag {
class Exec;
class Graph;
} // namespace cudag

namespace cudag::detail {

/// Returns the differences of `again` from the effective state of `exec`, as `diff_again` does. Throws GraphError.
[[nodiscard]] std::vector<Difference> diff_again(const Exec& exec, const Graph& again, MemoryPairs pairs);

} // namespace cudag::detail
