// Whole graphs: creation, destruction, clones, user objects.
#include "graph/graph_conditional_work.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags) {
    return graph_api("cudaGraphCreate", [&] {
        require_pointer(pGraph, "pGraph");
        if (flags != 0) fail(cudaErrorInvalidValue, text("the flags of a graph are ", flags, "; they must be 0"));
        *pGraph = register_graph(std::make_shared<Graph>());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
    return graph_api("cudaGraphDestroy", [&] { destroy_graph(graph); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph) {
    return graph_api("cudaGraphClone", [&] {
        require_pointer(pGraphClone, "pGraphClone");
        const Graph& original = graph_of(originalGraph);
        if (is_in_body(original))
            fail(cudaErrorNotSupported,
                 "Cloning is not supported for graphs containing or contained within a conditional node");
        *pGraphClone = register_graph(original.clone());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t* pNode, cudaGraphNode_t originalNode,
                                                              cudaGraph_t clonedGraph) {
    return graph_api("cudaGraphNodeFindInClone", [&] {
        require_pointer(pNode, "pNode");
        const Node& original = node_of(originalNode);
        const Node* clone = graph_of(clonedGraph).find_clone_of(original.handle);
        *pNode = clone ? clone->handle : nullptr;
        if (!clone) fail(cudaErrorInvalidValue, text("graph ", clonedGraph, " holds no clone of node ", originalNode));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                               unsigned int count, unsigned int flags) {
    return graph_api("cudaGraphRetainUserObject", [&] {
        Graph& holder = graph_of(graph);
        const UserObjectPointer alive = user_object_of(object);
        validate_reference_count(count);
        if ((flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)) != 0)
            fail(cudaErrorInvalidValue, text("flags ", flags, " hold more than cudaGraphUserObjectMove (1)"));
        HeldObject& held = holder.user_objects.try_emplace(object, HeldObject{alive, 0}).first->second;
        if (flags == cudaGraphUserObjectMove) {
            try {
                release_caller_references(object, count);
            } catch (...) {
                if (held.references == 0) holder.user_objects.erase(object);
                throw;
            }
        }
        held.references += count;
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                                unsigned int count) {
    return graph_api("cudaGraphReleaseUserObject", [&] {
        Graph& holder = graph_of(graph);
        validate_reference_count(count);
        const auto held = holder.user_objects.find(object);
        const std::size_t references = held == holder.user_objects.end() ? 0 : held->second.references;
        if (references < count)
            fail(cudaErrorInvalidValue, text("cannot release ", count, " references to user object ", object,
                                             ": the graph owns ", references));
        held->second.references -= count;
        if (held->second.references == 0) holder.user_objects.erase(held);
    });
}
