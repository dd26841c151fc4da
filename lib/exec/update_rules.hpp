// Impossible changes of an exec's nodes, and why: CUDA itself reports only "invalid argument".
#pragma once

#include "cuda/failure.hpp"
#include "node/node_params.hpp"

#include <cudag/node.hpp>

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Returns the first kernel attribute that CUDA would silently not update when an exec of `before` takes `after`, with
/// its node; empty if there is none. Both have the same nodes. Throws GraphError if CUDA does not report the
/// attributes.
[[nodiscard]] std::string silently_ignored(const GraphState& before, const GraphState& after);
/// Whether there may be such an attribute. Quicker: asks CUDA once for each graph, and reads no captured one. `kinds`
/// spares a call for each node of `after`: the kinds of the nodes of `before`, if known. CUDA refuses others.
[[nodiscard]] bool may_ignore_silently(const GraphState& before, const GraphState& after,
                                       std::span<const NodeKind> kinds = {});
/// The kinds of the nodes, in CUDA's order. Reads no captured graph. Throws GraphError.
[[nodiscard]] std::vector<NodeKind> kinds_of(const GraphState& graph);

/// Whether a node has parameters unknown to cudag.
[[nodiscard]] bool is_unknown(NodeKind kind, const NodeParams& params) noexcept;

/// Returns why CUDA makes no whole update if one of the two has a device-updatable node; empty if none has.
[[nodiscard]] std::string about_device_updatable(const GraphState& before, const GraphState& after);

/// Throws UpdateError: a whole update has given the node the kernel `name`, with parameters that are not, or may not
/// be, those of the handle. The text begins with `what`.
[[noreturn]] void refuse_other_kernel(const std::string& what, const std::string& name, Subject&& subject);

/// Whether both launch the same function: a quick answer for most nodes.
[[nodiscard]] inline bool launch_same_function(const NodeParams& a, const NodeParams& b) noexcept {
    const auto* const* first = std::get_if<const KernelParams*>(&a);
    const auto* const* second = std::get_if<const KernelParams*>(&b);
    return first != nullptr && second != nullptr && (*first)->function == (*second)->function;
}

/// Throws UpdateError if CUDA cannot give `next` to an exec's node with `current`. Calls `subject` only then.
template <class MakeSubject>
void require_exec_takes(const NodeParams& current, const NodeParams& next, const MakeSubject& subject) {
    if (launch_same_function(current, next)) [[likely]]
        return;
    if (const std::string problem = problem_in_exec(current, next); !problem.empty())
        refuse<UpdateError>(problem, subject());
}

} // namespace cudag::detail
