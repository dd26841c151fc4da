// Comparison of an exec's effective state with a graph.
#include "exec_diff.hpp"

#include "compare/diff_again.hpp"
#include "exec_in_force.hpp"
#include "exec_state.hpp"
#include "graph/graph_locks.hpp"

#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include <utility>

namespace cudag::detail {

std::vector<Difference> diff_again(const Exec& exec, const Graph& again, MemoryPairs pairs) {
    const ExecState& state = Access::state(exec);
    const GraphState& after = Access::state(again);
    const GraphLocks locks(state.source(), after);
    return diff_again(state.source(), ExecInForce(state), after, std::move(pairs));
}

} // namespace cudag::detail
