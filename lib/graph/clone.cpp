// Clones of graphs, and the native nodes in them.
#include "clone_natives.hpp"
#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "graph_state.hpp"

#include <memory>
#include <utility>
#include <variant>

namespace cudag::detail {

GraphState::GraphState(cudaGraph_t native, const GraphState& origin)
    : tree_(*this), records_(*this, origin.records_), native_(native), edges_(origin.edges_),
      owners_(origin.owners_.bundles()), construction_{true, origin.construction_.made_at} {
    construction_.options = origin.construction_.options;
    construction_.name = origin.construction_.name;
    construction_.pool = origin.construction_.pool;
    construction_.recapture = origin.construction_.recapture;
    for (const UpdatedNode& node : origin.records_.updated().all()) {
        if (node.owners.empty()) continue;
        // These count as changes: all later clones would keep owners of the graph, even after an update replaced them.
        changes().reserve(1);
        changes().count(records_.updated(node.index), Owners(node.owners));
    }
    reserve_nested(origin.tree_.nested().size());
    for (const auto& graph : origin.tree_.nested()) {
        auto copy = std::make_shared<GraphState>(nullptr, *graph);
        reserve_nested(*copy);
        attach(std::move(copy), graph->tree_.parent_node(), graph->tree_.place());
    }
    identity_.begin_clone_of(origin.identity_);
    identity_.begin(*this);
}

void become_clone(GraphState& copy, const GraphState& origin) noexcept {
    copy.identity_.become_clone_of(origin.identity_);
    for (std::size_t i = 0; i < origin.tree_.nested().size(); ++i)
        become_clone(*copy.tree_.nested()[i], *origin.tree_.nested()[i]);
}

CloneNatives natives_in(GraphState& graph, cudaGraph_t clone) {
    CloneNatives found{clone, graph.records().natives(), graph.edge_lists().plan().kernels};
    for (auto* nodes : {&found.nodes, &found.kernels})
        for (cudaGraphNode_t& node : *nodes)
            checked<GraphError>(cudaGraphNodeFindInClone(&node, node, clone), "cudaGraphNodeFindInClone");
    for (std::uint32_t i = 0; graph.records().special().read && i < found.nodes.size(); ++i) {
        const auto* kernel = std::get_if<const KernelParams*>(&graph.records().nodes()[i].params);
        if (kernel == nullptr || (*kernel)->unread == nullptr) continue;
        auto* own = new (graph.records().memory().allocate<KernelParams>(1)) KernelParams(**kernel);
        own->unread = found.nodes[i]; // the origin may go first
        found.unread.push_back({i, own});
    }
    found.nested.reserve(graph.nested().size());
    for (const auto& inner : graph.nested()) {
        cudaGraph_t const native = child_graph_of(found.nodes[inner->tree().parent_node()]);
        found.nested.push_back(natives_in(*inner, native));
    }
    return found;
}

void GraphState::replace_natives(CloneNatives&& natives) noexcept {
    native_ = natives.graph;
    records_.replace_natives(natives.nodes);
    edges_.plan().kernels = std::move(natives.kernels);
    for (const auto& [index, params] : natives.unread)
        records_.record(index).params = params;
    for (std::size_t i = 0; i < tree_.nested().size(); ++i)
        tree_.nested()[i]->replace_natives(std::move(natives.nested[i]));
}

} // namespace cudag::detail
