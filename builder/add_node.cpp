// Additions of all other nodes: no kernels, children or conditionals.
#include "add_node.hpp"

#include "cuda/version.hpp"
#include "graph/check_edges.hpp"
#include "owners/host_call.hpp"

#include <cudag/detail/record.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

Node add_memcpy(GraphState& graph, const CopyParams& copy, Owners&& owners, const SourceLocation& where) {
    return add_node(graph, NodeKind::memcpy, copy, {.owners = std::move(owners)}, where);
}

Node add_copy_3d(GraphState& graph, const Copy3D& copy, const SourceLocation& where) {
    require_allowed(graph, NodeKind::memcpy, where);
    require_sound(copy, [&] { return new_node_subject(NodeKind::memcpy, where); });
    return add_node(graph, NodeKind::memcpy, runtime_params(copy), {}, where);
}

Node add_memset(GraphState& graph, const SetParams& set, CallEffects&& effects, const SourceLocation& where) {
    return add_node(graph, NodeKind::memset, set, std::move(effects), where);
}

Node add_host(GraphState& graph, HostTask&& task, const HostOptions& options, const SourceLocation& where) {
    require_allowed(graph, NodeKind::host, where);
    if (options.sync_mode != HostSyncMode::blocking)
        require_version(since::host_sync_modes, "a host node with another sync_mode than blocking",
                        [&] { return new_node_subject(NodeKind::host, where); });
    const auto owned = std::make_shared<HostTask>(std::move(task));
    const HostParams params{run_host_task, owned.get(), static_cast<unsigned>(options.sync_mode)};
    const Node node = add_node(graph, NodeKind::host, params, {.owners = {{0, 0, owned}}}, where);
    graph.records().special().host_tasks = true;
    return node;
}

Node add_event(GraphState& graph, NodeKind kind, cudaEvent_t event, Owners&& owners, const SourceLocation& where) {
    return add_node(graph, kind, EventParams{event, kind == NodeKind::record_event}, {.owners = std::move(owners)},
                    where);
}

Node add_semaphores(GraphState& graph, NodeKind kind, std::span<const SemaphoreOperation> operations, Owners&& owners,
                    const SourceLocation& where) {
    std::vector<SemaphoreOperation> list(operations.begin(), operations.end());
    const SemaphoreParams params{kind == NodeKind::signal_semaphore, static_cast<std::uint32_t>(list.size()),
                                 list.data()};
    return add_node(graph, kind, params, {.owners = std::move(owners)}, where);
}

Node add_join(GraphState& graph, const Node* from, std::size_t count, const SourceLocation& where) {
    require_allowed(graph, NodeKind::empty, where);
    for (std::size_t i = 0; i < count; ++i)
        static_cast<void>(index_of(graph, from[i], "join"));
    graph.edge_lists().logical().reserve(count);
    const auto add = [&](cudaGraphNode_t& node) {
        CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_EMPTY);
        return add_native(node, graph.native(), params);
    };
    const Node node = append_new(graph, NodeKind::empty, {}, {}, where, add);
    add_edges(node, from, count);
    return node;
}

} // namespace cudag::detail
