// Disabling of an exec's memset nodes.
#include "disabled_memsets.hpp"

#include "cuda/failure.hpp"
#include "exec_state.hpp"
#include "graph/graph_tree.hpp"
#include "node/disabled_memset.hpp"

namespace cudag::detail {

void set_native_enabled(cudaGraphExec_t exec, const NodePlace& node, bool enabled) {
    const cudaError_t status = cudaGraphNodeSetEnabled(exec, node.native(), enabled ? 1U : 0U);
    if (status != cudaSuccess)
        raise_call<UpdateError>(status, "cudaGraphNodeSetEnabled", node.subject(enabled ? "enable " : "disable "));
}

void DisabledMemsets::disable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow) {
    std::list<NodePlace> noted{node}; // made first: nothing may fail after CUDA has agreed
    set_native_enabled(exec, node, false);
    try {
        if (loses_order(shadow.params))
            if (const NativeResult result = park(exec, node.native(), shadow.params, node.record().device);
                result.status != cudaSuccess)
                raise_call<UpdateError>(result.status, result.operation, node.subject("disable "), result.api);
    } catch (...) {
        ignore(cudaGraphNodeSetEnabled(exec, node.native(), 1));
        throw;
    }
    shadow.is_disabled_memset = true;
    nodes_.splice(nodes_.end(), noted);
}

void DisabledMemsets::enable(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow) {
    if (loses_order(shadow.params))
        if (const NativeResult result = unpark(exec, node.native(), shadow.params, node.record().device);
            result.status != cudaSuccess)
            raise_call<UpdateError>(result.status, result.operation, node.subject("enable "), result.api);
    try {
        set_native_enabled(exec, node, true);
    } catch (...) {
        park_again(exec, node, shadow.params);
        throw;
    }
    shadow.is_disabled_memset = false;
    std::erase_if(nodes_, [&](const NodePlace& other) { return other == node; });
}

void DisabledMemsets::park_again(cudaGraphExec_t exec, const NodePlace& node, const NodeParams& params) noexcept {
    if (!loses_order(params)) return;
    try {
        const NativeResult result = park(exec, node.native(), params, node.record().device);
        ignore(result);
        if (result.status != cudaSuccess) must_park_ = true;
    } catch (const Error&) {
        must_park_ = true;
    }
}

void DisabledMemsets::park_inside(const ExecState& exec, const GraphState& graph) noexcept {
    for (const NodePlace& node : nodes_)
        for (const GraphState* place = node.graph; place != nullptr; place = tree_of(*place).parent())
            if (place == &graph) park_again(exec.native(), node, exec.effective().of(node));
}

void DisabledMemsets::park_all(const ExecState& exec) {
    for (const NodePlace& node : nodes_) {
        if (!loses_order(exec.effective().of(node))) continue;
        if (const NativeResult result =
                park(exec.native(), node.native(), exec.effective().of(node), node.record().device);
            result.status != cudaSuccess)
            raise_call<Error>(result.status, result.operation, node.subject("launch: order of disabled "), result.api);
    }
    must_park_ = false;
}

} // namespace cudag::detail
