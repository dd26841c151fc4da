// Clones of graphs, and the native nodes in them.
#include "clone_natives.hpp"
#include "cuda/failure.hpp"
#include "graph_state.hpp"

#include <memory>
#include <utility>
#include <variant>

namespace cudag::detail {

GraphState::GraphState(cudaGraph_t native, const GraphState& origin)
    : GraphRecords(origin), native_(native), edges_(origin.edges_), bundles_(origin.bundles_),
      bindings_(origin.bindings_), units_(origin.units_), construction_{true, origin.construction_.made_at} {
    construction_.options = origin.construction_.options;
    special_.joins = origin.special_.joins;
    special_.accesses = origin.special_.accesses;
    special_.owners = origin.special_.owners;
    special_.waits = origin.special_.waits;
    special_.read = origin.special_.read;
    special_.host_tasks = origin.special_.host_tasks.load(std::memory_order_relaxed);
    for (const UpdatedNode& node : origin.updated().all()) {
        if (node.owners.empty()) continue;
        // These count as changes: all later clones would keep owners of the graph, even after an update replaced them.
        changes().reserve(1);
        changes().count(updated(node.index), Owners(node.owners));
    }
    reserve_inner(origin.inner().size());
    for (const auto& graph : origin.inner()) {
        auto copy = std::make_shared<GraphState>(nullptr, *graph);
        reserve_nested(*copy);
        attach(std::move(copy), graph->parent_node(), graph->place());
    }
    begin_clone_of(origin);
    begin(*this);
}

CloneNatives natives_in(GraphState& graph, cudaGraph_t clone) {
    CloneNatives found{clone, graph.natives(), graph.edge_lists().plan().kernels};
    for (auto* nodes : {&found.nodes, &found.kernels})
        for (cudaGraphNode_t& node : *nodes)
            checked<GraphError>(cudaGraphNodeFindInClone(&node, node, clone), "cudaGraphNodeFindInClone");
    for (std::uint32_t i = 0; graph.special().read && i < found.nodes.size(); ++i) {
        const auto* kernel = std::get_if<const KernelParams*>(&graph.nodes()[i].params);
        if (kernel == nullptr || (*kernel)->unread == nullptr) continue;
        auto* own = new (graph.memory().allocate<KernelParams>(1)) KernelParams(**kernel);
        own->unread = found.nodes[i]; // the origin may go first
        found.unread.push_back({i, own});
    }
    found.nested.reserve(graph.nested().size());
    for (const auto& inner : graph.nested()) {
        cudaGraph_t native = nullptr;
        checked<GraphError>(cudaGraphChildGraphNodeGetGraph(found.nodes[inner->parent_node()], &native),
                            "cudaGraphChildGraphNodeGetGraph");
        found.nested.push_back(natives_in(*inner, native));
    }
    return found;
}

void GraphState::replace_natives(CloneNatives&& natives) noexcept {
    native_ = natives.graph;
    table().replace_natives(natives.nodes);
    edges_.plan().kernels = std::move(natives.kernels);
    for (const auto& [index, params] : natives.unread)
        record(index).params = params;
    for (std::size_t i = 0; i < inner().size(); ++i)
        inner()[i]->replace_natives(std::move(natives.nested[i]));
}

} // namespace cudag::detail
