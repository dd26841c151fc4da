// Exec::apply: pushes what changed in the exec's graph, node by node, all or nothing.
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "exec_state.hpp"
#include "graph/names.hpp"
#include "node/node_params.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

namespace {

NodePlace place_of(const UpdatedNode& node) noexcept {
    return {node.graph, node.index};
}

struct ChangedNode {
    const UpdatedNode& node;
    Shadow& shadow;
    OwnerVersions owners;
    HostRun* run = nullptr;  ///< of a host task
    HostRun* undo = nullptr; ///< of the one in force
    OwnerVersions undo_owners = {};

    [[nodiscard]] NodePlace place() const noexcept { return place_of(node); }
    void prepare_undo(ExecState& exec) {
        undo = exec.host_run(place(), shadow.params, undo_owners);
        if (!shadow.owners.empty()) shadow.owners.front().owners.reserve(shadow.owners.front().owners.size() + 1);
    }
    /// The node has its former parameters again, and calls `undo`.
    void keep_undo() noexcept {
        if (shadow.owners.empty())
            shadow.owners = std::move(undo_owners);
        else if (!undo_owners.empty())
            shadow.owners.front().owners.push_back(std::move(undo_owners.front().owners.front()));
    }
};

/// Everything that can fail before the first node is pushed.
std::vector<ChangedNode> changes_of(ExecState& exec, const GraphState& graph) {
    std::size_t count = 0;
    graph.changes().for_each_since(exec.seen(), [&](const UpdatedNode&) { ++count; });
    std::vector<ChangedNode> changed;
    changed.reserve(count);
    graph.changes().for_each_since(exec.seen(), [&](const UpdatedNode& node) {
        Shadow& shadow = exec.shadow(place_of(node));
        exec.reserve(shadow, node.params); // the update of a whole graph may have given the node another kernel
        ChangedNode& change = changed.emplace_back(ChangedNode{node, shadow, version_of(Owners(node.owners))});
        change.run = exec.host_run(change.place(), node.params, change.owners);
        if (change.run != nullptr && count > 1) change.prepare_undo(exec);
        require_exec_takes(shadow.params, node.params, [&] { return place_of(node).subject("apply: "); });
    });
    return changed;
}

} // namespace

} // namespace detail

std::size_t Exec::apply(const Graph& graph) {
    detail::ExecState& exec = state();
    const detail::GraphState& source = graph.state();
    if (!exec.is_of(source))
        detail::refuse<UpdateError>(
            fmt::format("apply: the graph is not the one that this Exec was made from: that is {}, and this {}; "
                        "update(graph) takes another one",
                        detail::describe_graph(exec.source()), detail::describe_graph(source)));
    const auto lock = source.lock();
    if (exec.seen() == source.changes().version()) return 0;

    std::vector<detail::ChangedNode> changed = detail::changes_of(exec, source);
    detail::bind_context();
    for (std::size_t i = 0; i < changed.size(); ++i) {
        const detail::NodeParams& params = changed[i].node.params;
        const detail::NativeResult result = exec.set_params(changed[i].place(), params, changed[i].run);
        if (result.status == cudaSuccess) [[likely]]
            continue;
        detail::Subject subject = changed[i].place().subject("apply: ");
        while (i-- > 0) { // what was in force was accepted once
            detail::ChangedNode& change = changed[i];
            const auto undone = exec.set_params(change.place(), change.shadow.params, change.undo);
            if (undone.api == detail::Api::runtime) detail::ignore(undone.status);
            change.keep_undo();
        }
        raise_update(result, params, std::move(subject));
    }
    for (detail::ChangedNode& change : changed) {
        detail::Shadows::assign(change.shadow, change.node.params);
        exec.commit(change.shadow, std::move(change.owners));
    }
    exec.set_seen(source.changes().version());
    return changed.size();
}

} // namespace cudag
