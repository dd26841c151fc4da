// Nodes and edges of a graph: queries and changes.
#include "capture/capture.hpp"
#include "driver/driver_functions.hpp"
#include "graph/graph_cuda12.hpp"
#include "graph/graph_params.hpp"
#include "runtime/driver_version.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

/// The answer to a query, as in CUDA: without `out`, the number of entries; else as many as `*count` has room for,
/// followed by nulls.
class Answer {
  public:
    Answer(std::size_t available, std::size_t* count, const void* out)
        : room_(out ? *count : 0), written_(std::min(room_, available)) {
        if (out && room_ == 0) fail(cudaErrorInvalidValue, "Requesting zero nodes is not supported");
        *count = out ? written_ : available;
    }

    template <class HandleAt>
    void write(cudaGraphNode_t* out, HandleAt&& handle_at) const {
        for (std::size_t i = 0; i < room_; ++i)
            out[i] = i < written_ ? handle_at(i) : nullptr;
    }

    template <class DataAt>
    void write_data(cudaGraphEdgeData* out, DataAt&& data_at) const {
        for (std::size_t i = 0; out && i < written_; ++i)
            out[i] = data_at(i);
    }

  private:
    std::size_t room_;
    std::size_t written_;
};

/// Throws if a query without room for edge data meets an edge with data.
void require_lossless(const cudaGraphEdgeData& data) {
    if (!is_ordinary(data)) fail(cudaErrorLossyQuery, "An edge has non-default data, and edgeData is NULL");
}

/// Lists the dependencies or dependents of a node.
void list_neighbours(cudaGraphNode_t handle, std::vector<Node*> Node::*side,
                     std::vector<cudaGraphEdgeData> Node::*side_data, cudaGraphNode_t* out, cudaGraphEdgeData* data_out,
                     std::size_t* count) {
    require_pointer(count, "the number of nodes");
    if (data_out) require_pointer(out, "the array of nodes that goes with edgeData");
    const Node& node = node_of(handle);
    const std::vector<Node*>& nodes = node.*side;
    const std::vector<cudaGraphEdgeData>& data = node.*side_data;
    if (out && !data_out) std::for_each(data.begin(), data.end(), require_lossless);
    const Answer answer(nodes.size(), count, out);
    answer.write(out, [&](std::size_t i) { return nodes[i]->handle; });
    answer.write_data(data_out, [&](std::size_t i) { return data[i]; });
}

cudaError_t answer_neighbours(const char* name, cudaGraphNode_t handle, std::vector<Node*> Node::*side,
                              std::vector<cudaGraphEdgeData> Node::*side_data, cudaGraphNode_t* out,
                              cudaGraphEdgeData* data_out, std::size_t* count) noexcept {
    return graph_api(name, [&] { list_neighbours(handle, side, side_data, out, data_out, count); });
}

void list_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    require_pointer(count, "numNodes");
    const auto& all = graph_of(graph).nodes();
    Answer(all.size(), count, nodes).write(nodes, [&](std::size_t i) { return all[i]->handle; });
}

template <class Body>
CUresult driver_graph_api(const char* name, Body&& body) noexcept {
    return static_cast<CUresult>(driver_api(name, [&] {
        const std::lock_guard lock(graph_mutex());
        body();
    }));
}

struct Edge {
    Node* from;
    Node* to;
    cudaGraphEdgeData data;
};

std::vector<Edge> edges_of(const Graph& graph) {
    std::vector<Edge> edges;
    for (const auto& node : graph.nodes())
        for (std::size_t i = 0; i < node->dependents.size(); ++i)
            edges.push_back({node.get(), node->dependents[i], node->dependent_data[i]});
    return edges;
}

Edge checked_edge(const Graph& graph, cudaGraphNode_t from, cudaGraphNode_t to, const cudaGraphEdgeData& data,
                  std::size_t index) {
    const Edge edge{&node_of(from), &node_of(to), data};
    if (&edge.from->graph != &graph || &edge.to->graph != &graph)
        fail(cudaErrorInvalidValue, text("edge ", index, " (", from, " to ", to, ") has a node of another graph"));
    if (edge.from == edge.to)
        fail(cudaErrorInvalidValue, text("edge ", index, " leads from node ", from, " to itself"));
    return edge;
}

std::vector<Edge> checked_edges(const Graph& graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                const cudaGraphEdgeData* data, std::size_t count) {
    std::vector<Edge> edges;
    if (count == 0) return edges;
    require_pointer(from, "from");
    require_pointer(to, "to");
    edges.reserve(count);
    // As in CUDA 13.0, all edges of one call get the data of the first.
    for (std::size_t i = 0; i < count; ++i)
        edges.push_back(checked_edge(graph, from[i], to[i], data ? *data : cudaGraphEdgeData{}, i));
    require_valid_edges(data, count, [&](std::size_t i) {
        return EdgeEnds{edges[i].from->work->type(), edges[i].to->work->type()};
    });
    return edges;
}

/// The number of the graph, and that of the node in it.
void tell_tools_id(cudaGraphNode_t node, unsigned long long* id) {
    require_driver(13010);
    require_pointer(id, "toolsNodeId");
    const Node& found = node_of(node);
    *id = std::uint64_t{found.graph.id()} << 32U | (found.number + 1);
}

void require_removable(const Graph& graph, const char* what) {
    if (graph.holds_memory())
        fail(cudaErrorNotSupported, text(what, " cannot be removed from a graph with alloc or free nodes"));
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes) {
    return graph_api("cudaGraphGetNodes", [&] { list_nodes(graph, nodes, numNodes); });
}

CUresult driver::graph_get_nodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
    return driver_graph_api("cuGraphGetNodes", [&] { list_nodes(graph, nodes, count); });
}

CUresult driver::graph_node_get_type(CUgraphNode node, CUgraphNodeType* type) {
    return driver_graph_api("cuGraphNodeGetType", [&] {
        require_pointer(type, "type");
        *type = static_cast<CUgraphNodeType>(node_of(node).work->type());
    });
}

CUresult driver::graph_node_get_tools_id(CUgraphNode node, unsigned long long* id) {
    return driver_graph_api("cuGraphNodeGetToolsId", [&] { tell_tools_id(node, id); });
}

#if CUDART_VERSION >= 13010
CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetToolsId(cudaGraphNode_t hNode, unsigned long long* toolsNodeId) {
    return graph_api("cudaGraphNodeGetToolsId", [&] { tell_tools_id(hNode, toolsNodeId); });
}
#endif

// The runtime's structure is the driver's under another name.
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));

CUresult driver::graph_node_get_dependencies(CUgraphNode node, CUgraphNode* dependencies, CUgraphEdgeData* data,
                                             std::size_t* count) {
    return driver_graph_api("cuGraphNodeGetDependencies", [&] {
        list_neighbours(node, &Node::dependencies, &Node::dependency_data, dependencies,
                        reinterpret_cast<cudaGraphEdgeData*>(data), count);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes,
                                                           size_t* pNumRootNodes) {
    return graph_api("cudaGraphGetRootNodes", [&] {
        require_pointer(pNumRootNodes, "pNumRootNodes");
        std::vector<const Node*> roots;
        for (const auto& node : graph_of(graph).nodes())
            if (node->dependencies.empty()) roots.push_back(node.get());
        // This is CUDA's order: latest first.
        std::sort(roots.begin(), roots.end(), [](const Node* a, const Node* b) { return a->rooted_at > b->rooted_at; });
        Answer(roots.size(), pNumRootNodes, pRootNodes).write(pRootNodes, [&](std::size_t i) {
            return roots[i]->handle;
        });
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                                       cudaGraphEdgeData* edgeData, size_t* numEdges) {
    return graph_api("cudaGraphGetEdges", [&] {
        require_pointer(numEdges, "numEdges");
        if (edgeData || from || to) {
            require_pointer(from, "from");
            require_pointer(to, "to");
        }
        const std::vector<Edge> edges = edges_of(graph_of(graph));
        if (from && !edgeData)
            for (const Edge& edge : edges)
                require_lossless(edge.data);
        const Answer answer(edges.size(), numEdges, from);
        answer.write(from, [&](std::size_t i) { return edges[i].from->handle; });
        answer.write(to, [&](std::size_t i) { return edges[i].to->handle; });
        answer.write_data(edgeData, [&](std::size_t i) { return edges[i].data; });
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* pType) {
    return graph_api("cudaGraphNodeGetType", [&] {
        require_pointer(pType, "pType");
        const cudaGraphNodeType type = node_of(node).work->type();
        if (type == static_cast<cudaGraphNodeType>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP))
            fail(cudaErrorUnknown, {}); // the runtime has no name for it
        *pType = type;
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                                                  cudaGraphEdgeData* edgeData,
                                                                  size_t* pNumDependencies) {
    return answer_neighbours("cudaGraphNodeGetDependencies", node, &Node::dependencies, &Node::dependency_data,
                             pDependencies, edgeData, pNumDependencies);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                                    cudaGraphNode_t* pDependentNodes,
                                                                    cudaGraphEdgeData* edgeData,
                                                                    size_t* pNumDependentNodes) {
    return answer_neighbours("cudaGraphNodeGetDependentNodes", node, &Node::dependents, &Node::dependent_data,
                             pDependentNodes, edgeData, pNumDependentNodes);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                              const cudaGraphNode_t* to,
                                                              const cudaGraphEdgeData* edgeData,
                                                              size_t numDependencies) {
    return graph_api("cudaGraphAddDependencies", [&] {
        // As in CUDA, impossible edges are found before any is added, duplicates one by one.
        Graph& target = graph_of(graph);
        const std::vector<Edge> edges = checked_edges(target, from, to, edgeData, numDependencies);
        std::vector<std::pair<Node*, Node*>> ends;
        ends.reserve(edges.size());
        for (const Edge& edge : edges)
            ends.emplace_back(edge.from, edge.to);
        Graph::make_room_for_edges(ends); // room for all of them, or for none if memory is short
        for (const Edge& edge : edges) {
            if (find_edge(*edge.from, *edge.to))
                fail(cudaErrorInvalidValue,
                     text("the edge from node ", edge.from->handle, " to node ", edge.to->handle, " already exists"));
            target.add_edge(*edge.from, *edge.to, edge.data);
        }
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                                 const cudaGraphNode_t* to,
                                                                 const cudaGraphEdgeData* edgeData,
                                                                 size_t numDependencies) {
    return graph_api("cudaGraphRemoveDependencies", [&] {
        // As in CUDA, edges before a missing one are removed, and the given edge data is ignored.
        Graph& target = graph_of(graph);
        require_removable(target, "edges");
        for (const Edge& edge : checked_edges(target, from, to, edgeData, numDependencies)) {
            if (!find_edge(*edge.from, *edge.to))
                fail(cudaErrorInvalidValue,
                     text("the edge from node ", edge.from->handle, " to node ", edge.to->handle, " does not exist"));
            target.remove_edge(*edge.from, *edge.to);
        }
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node) {
    return graph_api("cudaGraphDestroyNode", [&] {
        Node& doomed = node_of(node);
        if (doomed.graph.is_captured_to)
            fail(cudaErrorIllegalState, "Cannot remove nodes from a graph while it is being captured to");
        require_removable(doomed.graph, "nodes");
        if (doomed.work->decides_whether_it_runs())
            fail(cudaErrorNotSupported, "Device-updatable kernel nodes cannot be removed from their graph");
        doomed.graph.remove(doomed);
    });
}
