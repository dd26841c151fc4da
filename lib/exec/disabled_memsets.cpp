// Disabling of an exec's memset nodes, and of copies of batches.
#include "disabled_memsets.hpp"

#include "cuda/failure.hpp"
#include "cuda/numbered_contexts.hpp"
#include "exec_state.hpp"
#include "graph/graph_tree.hpp"
#include "node/disabled_memset.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace cudag::detail {

void set_native_enabled(cudaGraphExec_t exec, const NodePlace& node, bool enabled) {
    const cudaError_t status = cudaGraphNodeSetEnabled(exec, node.native(), enabled ? 1U : 0U);
    if (status != cudaSuccess)
        raise_call<UpdateError>(status, "cudaGraphNodeSetEnabled", node.subject(enabled ? "enable " : "disable "));
}

namespace {

/// Gives CUDA a batch without its disabled copies.
NativeResult give_batch(cudaGraphExec_t exec, const NodePlace& node, const NodeParams& params,
                        const std::vector<bool>& disabled) {
    std::vector<CopyOfBatch> list;
    const CopyBatchParams next = without_disabled(*std::get<const CopyBatchParams*>(params), disabled, list);
    std::optional<PlaceGuard> context;
    if (const int device = node.record().device; is_context_number(device)) context.emplace(device);
    return set_native({node.native(), exec}, next);
}

} // namespace

CopyBatchParams without_disabled(const CopyBatchParams& batch, const std::vector<bool>& disabled,
                                 std::vector<CopyOfBatch>& list) {
    list.assign(batch.operations, batch.operations + batch.count);
    for (std::size_t i = 0; i < std::min(list.size(), disabled.size()); ++i)
        if (disabled[i]) list[i].bytes = 0;
    return {batch.context, batch.count, list.data()};
}

void DisabledMemsets::set_enabled(cudaGraphExec_t exec, const NodePlace& node, Shadow& shadow, std::uint32_t copy,
                                  bool enabled) {
    std::list<NodePlace> noted{node}; // made first: nothing may fail after CUDA has agreed
    std::vector<bool> next = shadow.disabled_copies;
    next.resize(std::get<const CopyBatchParams*>(shadow.params.view())->count);
    if (next[copy] == !enabled) return;
    next[copy] = !enabled;
    if (const NativeResult result = give_batch(exec, node, shadow.params, next); result.status != cudaSuccess)
        raise_call<UpdateError>(result.status, result.operation, node.subject(enabled ? "enable " : "disable "),
                                result.api);
    if (shadow.disabled_copies.empty()) batches_.splice(batches_.end(), noted);
    if (std::ranges::find(next, true) == next.end()) {
        next.clear();
        std::erase_if(batches_, [&](const NodePlace& other) { return other == node; });
    }
    shadow.disabled_copies = std::move(next);
    any_ = !nodes_.empty() || !batches_.empty();
}

void DisabledMemsets::take_bytes_again(cudaGraphExec_t exec, const NodePlace& node, const NodeParams& params,
                                       const std::vector<bool>& disabled) noexcept {
    try {
        const NativeResult result = give_batch(exec, node, params, disabled);
        ignore(result);
        if (result.status != cudaSuccess) must_park_ = true;
    } catch (...) {
        must_park_ = true;
    }
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
    any_ = true;
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
    any_ = !nodes_.empty() || !batches_.empty();
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
    const auto is_inside = [&](const NodePlace& node) {
        for (const GraphState* place = node.graph; place != nullptr; place = tree_of(*place).parent())
            if (place == &graph) return true;
        return false;
    };
    for (const NodePlace& node : nodes_)
        if (is_inside(node)) park_again(exec.native(), node, exec.effective().of(node));
    for (const NodePlace& node : batches_)
        if (const Shadow* const shadow = exec.effective().find_shadow(node); shadow != nullptr && is_inside(node))
            take_bytes_again(exec.native(), node, shadow->params, shadow->disabled_copies);
}

void DisabledMemsets::park_all(const ExecState& exec) {
    for (const NodePlace& node : nodes_) {
        if (!loses_order(exec.effective().of(node))) continue;
        if (const NativeResult result =
                park(exec.native(), node.native(), exec.effective().of(node), node.record().device);
            result.status != cudaSuccess)
            raise_call<Error>(result.status, result.operation, node.subject("launch: order of disabled "), result.api);
    }
    for (const NodePlace& node : batches_) {
        const Shadow* const shadow = exec.effective().find_shadow(node);
        if (shadow == nullptr) continue;
        if (const NativeResult result = give_batch(exec.native(), node, shadow->params, shadow->disabled_copies);
            result.status != cudaSuccess)
            raise_call<Error>(result.status, result.operation, node.subject("launch: disabled copies of "), result.api);
    }
    must_park_ = false;
}

} // namespace cudag::detail
