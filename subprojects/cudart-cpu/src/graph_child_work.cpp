// Child graph nodes: the node owns the graph, see Node::bodies.
#include "graph_child_work.hpp"

#include "exec_pairing.hpp"
#include "graph_enum.hpp"

namespace cudart_cpu::detail {

namespace {

void require_child(const Graph& child, ChildOwnership ownership) {
    for (const auto& node : child.nodes()) {
        if (const std::string reason = node->work->refuse_as_child(ownership); !reason.empty())
            fail(cudaErrorNotSupported, reason);
        for (const auto& body : node->bodies)
            require_child(*body, ownership);
    }
}

bool holds(const Graph& outer, const Graph& inner) {
    const Graph* graph = &inner;
    while (graph != &outer && graph->owner())
        graph = &graph->owner()->graph;
    return graph == &outer;
}

NodeContent moved_child(cudaGraph_t handle, const Graph& target) {
    std::shared_ptr<Graph> child = shared_graph_of(handle);
    if (child->owner()) fail(cudaErrorNotSupported, text("Graph ", handle, " belongs to a node: it cannot be moved"));
    if (holds(*child, target)) fail(cudaErrorInvalidValue, text("Graph ", handle, " cannot be moved into itself"));
    require_child(*child, ChildOwnership::move);
    return {std::make_shared<ChildWork>(), {std::move(child)}};
}

} // namespace

NodeContent cloned_child(cudaGraph_t handle) {
    const Graph& child = graph_of(handle);
    if (child.is_moved())
        fail(cudaErrorNotSupported, text("Graph ", handle, " was moved into a node: it cannot be a second one's"));
    require_child(child, ChildOwnership::clone);
    return {std::make_shared<ChildWork>(), {child.clone()}};
}

NodeContent child_content(const cudaChildGraphNodeParams& params, [[maybe_unused]] const Graph& target) {
#if CUDART_VERSION >= 12090
    switch (const int ownership = number_in(params.ownership)) {
    case cudaGraphChildGraphOwnershipClone:
        break;
    case cudaGraphChildGraphOwnershipMove:
        return moved_child(params.graph, target);
    default:
        fail(cudaErrorInvalidValue, text("ownership ", ownership, " of a child graph is unknown"));
    }
#endif
    return cloned_child(params.graph);
}

void update_child(Exec& exec, NodeState& state, const Graph& from) {
    work_as<ChildWork>(*state.work);
    try {
        exec.set_works(works_from(from, state.bodies.front(), exec.flags()));
    } catch (const UpdateFailure& failure) {
        fail(cudaErrorGraphExecUpdateFailure, failure.reason);
    }
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* pGraph) {
    return graph_api("cudaGraphChildGraphNodeGetGraph", [&] {
        require_pointer(pGraph, "pGraph");
        const Node& parent = node_of(node);
        work_of<ChildWork>(parent);
        *pGraph = parent.bodies.front()->handle();
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec,
                                                                          cudaGraphNode_t node,
                                                                          cudaGraph_t childGraph) {
    return graph_api("cudaGraphExecChildGraphNodeSetParams", [&] {
        Exec& exec = exec_of(hGraphExec);
        NodeState& state = exec.state_of(node);
        update_child(exec, state, graph_of(childGraph));
    });
}
