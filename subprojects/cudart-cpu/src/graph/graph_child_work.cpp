// Child graph nodes: the node owns the graph, see Node::bodies.
#include "graph_child_work.hpp"

#include "runtime/cuda_versions.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/number_in.hpp"

namespace cudart_cpu::detail {

namespace {

void require_child(const Graph& child, ChildOwnership ownership) {
    if (!child.conditions.empty()) fail(cudaErrorNotSupported, "Child graph is not allowed to have conditional nodes");
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

/// Refuses an owned graph, and a graph inside itself: a real driver takes the latter, and crashes or never destroys it.
void require_free(const Graph& child, const Graph& target) {
    if (child.owner()) fail(cudaErrorNotSupported, "Child graph is already owned by another graph");
    if (holds(child, target))
        fail(cudaErrorInvalidValue, text("Graph ", child.handle(), " cannot be its own child graph"));
}

} // namespace

NodeContent cloned_child(cudaGraph_t handle, const Graph& target) {
    const Graph& child = graph_of(handle);
    require_free(child, target);
    require_child(child, ChildOwnership::clone);
    return {std::make_shared<ChildWork>(), {child.clone_as_child()}};
}

NodeContent child_content(const cudaChildGraphNodeParams& params, const Graph& target) {
    constexpr int move = 1;
    if (compat::ownership_of(params) == move) {
        if (driver_version() < 12090) fail(cudaErrorInvalidValue, "reserved bytes of a child graph node are not zero");
        std::shared_ptr<Graph> child = shared_graph_of(params.graph);
        require_free(*child, target);
        require_child(*child, ChildOwnership::move);
        return {std::make_shared<ChildWork>(), {std::move(child)}};
    }
    return cloned_child(params.graph, target);
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
