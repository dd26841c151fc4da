// What an exec's node cannot become, and why: CUDA itself says "invalid argument" only.
#pragma once

#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"
#include "node/node_params.hpp"

#include <string>

namespace cudag::detail {

/// Whether kernels of two graphs with the same nodes run in other clusters, which execs keep: CUDA says that it has
/// updated them, and launches in the old ones (driver 580). Throws GraphError if CUDA does not tell.
[[nodiscard]] bool have_other_clusters(const GraphState& before, const GraphState& after);

/// Throws UpdateError about a node of an exec that the update of a whole graph has given the kernel of this name, whose
/// parameters are not, or may not be, those of the handle. `what` goes before.
[[noreturn]] void refuse_other_kernel(const std::string& what, const std::string& name, Subject&& subject);

/// Throws UpdateError if CUDA cannot give `next` to a node that has `current` in an exec. `subject` is called only
/// then.
template <class MakeSubject>
void require_exec_takes(const NodeParams& current, const NodeParams& next, const MakeSubject& subject) {
    if (const std::string problem = problem_in_exec(current, next); !problem.empty())
        refuse<UpdateError>(problem, subject());
}

} // namespace cudag::detail
