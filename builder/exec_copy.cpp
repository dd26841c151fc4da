// Copies of graphs of which CUDA allows one exec at a time.
#include "exec/exec_copy.hpp"

#include "cuda/failure.hpp"
#include "graph/conditions.hpp"
#include "graph/find.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "graph_writer.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace cudag::detail {

namespace {

/// Whether each condition of `graph` has the same number in `copy`, for the node written for its node.
bool has_same_numbers(const GraphState& graph, const GraphState& copy) {
    return std::ranges::all_of(conditions_of(graph).all(), [&](const ConditionRecord& condition) {
        if (condition.user == nullptr) return true;
        const ConditionRecord* const same = conditions_of(copy).find(condition.handle);
        return same != nullptr && same->user != nullptr && same->node == condition.node &&
               same->user->tree().position() == condition.user->tree().position();
    });
}

} // namespace

std::shared_ptr<GraphState> copy_for_exec(GraphState& graph) {
    const auto refuse_for = [&](const std::string& reason) {
        const NodePlace node = find_unlike(graph, &KindRules::can_have_execs);
        refuse<InstantiateError>(
            "CUDA allows one Exec at a time of a graph with such a node, and one is alive; destroy "
            "it first, since its nodes cannot be written again for another: " +
                reason,
            node.subject("instantiate: "), cudaErrorNotSupported);
    };
    try {
        std::shared_ptr<GraphState> copy = written_clone(graph, "writing", graph.construction().made_at);
        if (has_same_numbers(graph, *copy)) {
            copy->construction().is_exec_copy = true;
            return copy;
        }
    } catch (const GraphError& error) {
        if (error.code() != std::error_code(cudaErrorNotSupported, cuda_category())) throw; // CUDA failed
        const std::string reason = error.what();
        constexpr std::string_view prefix = "cudag: writing: ";
        refuse_for(reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason);
    }
    refuse_for("a condition would have another number");
    return nullptr;
}

} // namespace cudag::detail
