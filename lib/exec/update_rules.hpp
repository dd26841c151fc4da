// What an exec's node cannot become, and why: CUDA itself says "invalid argument" only.
#pragma once

#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"
#include "node/node_params.hpp"

#include <cudag/node.hpp>

#include <string>

namespace cudag::detail {

/// What an exec of `before` would keep of a kernel if it was updated to `after`, which has the same nodes, while CUDA
/// says that it has updated it, with the node's name; empty if nothing. Throws GraphError if CUDA does not tell.
[[nodiscard]] std::string kept_silently(const GraphState& before, const GraphState& after);
/// Whether it may be something: quicker, and asked of CUDA once for each graph, of captured ones without reading them.
[[nodiscard]] bool may_be_kept_silently(const GraphState& before, const GraphState& after);

/// Whether a node has parameters that cudag does not describe.
[[nodiscard]] bool is_unknown(NodeKind kind, const NodeParams& params) noexcept;

/// Whether no update of a single node in an exec can change this of a node of `kind`: attributes, and whatever CUDA
/// fixes.
[[nodiscard]] bool is_fixed_in_exec(NodeKind kind, const FieldDifference& difference) noexcept;

/// Why CUDA updates no whole graph with such a node, or empty: of a device-updatable one in any of the two.
[[nodiscard]] std::string about_device_updatable(const GraphState& before, const GraphState& after);

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
