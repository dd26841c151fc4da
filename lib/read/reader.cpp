// Describes graphs that were made without cudag: read from CUDA first, then appended as a whole.
#include "reader.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "edge_reader.hpp"
#include "graph/device_rules.hpp"
#include "node/kernel_attributes.hpp"
#include "node_reader.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace cudag::detail {

/// What is known of new nodes, before the graph has it.
struct Description {
    struct Inner {
        std::uint32_t node;
        std::shared_ptr<GraphState> graph;
    };

    std::vector<cudaGraphNode_t> natives;
    std::vector<NodeRecord> records;
    std::vector<EdgeRecord> edges;
    bool has_memory = false;                  ///< whether one of the nodes allocates or frees
    std::vector<GraphAllocation> allocations; ///< all of the graph; none if no node of these has memory
    std::vector<Inner> nested;
};

namespace {

/// The graph inside a child node, which owns it.
std::shared_ptr<GraphState> describe_inside(cudaGraphNode_t child) {
    cudaGraph_t native = nullptr;
    checked<GraphError>(cudaGraphChildGraphNodeGetGraph(child, &native), "cudaGraphChildGraphNodeGetGraph");
    auto inner = captured_graph(native, CaptureNames(0, {}));
    inner->give_up_native();
    inner->read_nodes();
    return inner;
}

/// Gives the records of nodes, `first` being the number of the first one, their names. Each is named once: near-linear
/// in nodes and names, however deep steps stand inside each other.
void name_records(std::vector<NodeRecord>& records, std::size_t first, const CaptureNames& names) {
    if (names.stretches().empty()) return;
    std::vector<const NamedNodes*> nearest_first;
    for (const NamedNodes& stretch : names.stretches())
        nearest_first.push_back(&stretch);
    std::stable_sort(nearest_first.begin(), nearest_first.end(),
                     [](const NamedNodes* a, const NamedNodes* b) { return a->depth > b->depth; });
    std::vector<std::size_t> unnamed(records.size() + 1); // from each place, where to look for a node without a name
    std::iota(unnamed.begin(), unnamed.end(), std::size_t{0});
    const auto next_unnamed = [&](std::size_t i) {
        while (unnamed[i] != i)
            i = unnamed[i] = unnamed[unnamed[i]];
        return i;
    };
    for (const NamedNodes* stretch : nearest_first) {
        const std::size_t begin = std::max<std::size_t>(stretch->first, first) - first;
        const std::size_t end = std::min(std::max<std::size_t>(stretch->end, first) - first, records.size());
        if (begin >= end) continue;
        const Label label(stretch->label);
        for (std::size_t i = next_unnamed(begin); i < end; i = next_unnamed(i)) {
            records[i].label = label;
            records[i].location = stretch->location;
            unnamed[i] = i + 1;
        }
    }
}

bool is_memory(CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/// `natives` are nodes of CUDA's graph, the first of which has the number `first` there, and will have the index
/// `known`. No edges.
Description describe_nodes(GraphState& graph, std::vector<cudaGraphNode_t>&& natives, std::size_t first,
                           std::size_t known, const CaptureNames& names) {
    Description description;
    description.natives = std::move(natives);
    description.records.reserve(description.natives.size());
    NodeReader reader(graph, description.allocations);
    for (const cudaGraphNode_t native : description.natives) {
        CUgraphNodeType driver_type{};
        checked_driver<GraphError>(driver().graph_node_get_type(native, &driver_type), "cuGraphNodeGetType");
        if (is_memory(driver_type) && !std::exchange(description.has_memory, true) && known != 0)
            description.allocations = graph.allocations();
        const auto type = static_cast<cudaGraphNodeType>(driver_type); // value for value
        const auto index = static_cast<std::uint32_t>(known + description.records.size());
        const NodeParams params = reader.read(native, type, index);
        if (type == cudaGraphNodeTypeGraph) description.nested.push_back({index, describe_inside(native)});
        description.records.emplace_back(static_cast<NodeKind>(type), params, Label(), names.location());
    }
    name_records(description.records, first, names);
    return description;
}

/// Describing is rare, and graphs are many: one for all.
std::recursive_mutex& reading() {
    static std::recursive_mutex mutex;
    return mutex;
}

} // namespace

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::vector<cudaGraphNode_t> nodes(64); // enough for most: then CUDA is asked once
    std::size_t count = nodes.size();
    checked_driver<GraphError>(driver().graph_get_nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    if (count == nodes.size()) {
        checked_driver<GraphError>(driver().graph_get_nodes(graph, nullptr, &count), "cuGraphGetNodes");
        nodes.resize(count);
        checked_driver<GraphError>(driver().graph_get_nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    }
    nodes.resize(count);
    return nodes;
}

void GraphState::append_described(Description&& description) {
    reserve_native_edges(description.edges.size());
    reserve_more(nested_, description.nested.size());
    if (nodes_.empty()) {
        nodes_ = std::move(description.records);
        natives_ = std::move(description.natives);
    } else {
        reserve_more(nodes_, description.records.size());
        reserve_more(natives_, description.natives.size());
        nodes_.insert(nodes_.end(), description.records.begin(), description.records.end());
        natives_.insert(natives_.end(), description.natives.begin(), description.natives.end());
    }
    const bool all_written = written_edges_ == edges_.size();
    for (const EdgeRecord& edge : description.edges) {
        edges_.add(edge);
        native_edges_.note(edge);
    }
    if (all_written) written_edges_ = edges_.size();
    if (description.has_memory) allocations_ = std::move(description.allocations);
    for (Description::Inner& inner : description.nested)
        attach(std::move(inner.graph), inner.node, Place::child); // CUDA shows no bodies of conditionals
    keeps_nodes_ = keeps_nodes_ || description.has_memory;
    if (!described_) described_ = true; // of a captured graph it is: another thread may be looking
}

void GraphState::read_nodes_now() const {
    const std::lock_guard lock(reading());
    if (!nodes_unread_.load(std::memory_order_relaxed)) return;
    auto& self = const_cast<GraphState&>(*this); // what it is does not change, only what of it is known
    self.append_described(describe_nodes(self, nodes_of(native_), 0, 0, *names_));
    self.names_ = nullptr;
    if (parent_ == nullptr) {
        self.node_total_ = self.number_from(0);
        self.numbered_ = true;
    }
    self.nodes_unread_.store(false, std::memory_order_release);
}

void GraphState::read_edges_now() const {
    const std::lock_guard lock(reading());
    if (!edges_unread_.load(std::memory_order_relaxed)) return;
    auto& self = const_cast<GraphState&>(*this);
    Edges edges(EdgeReader(self, natives()).edges(0));
    self.native_edges_ = NativeEdges(edges.list());
    self.edges_ = std::move(edges);
    self.written_edges_ = edges_.size();
    self.edges_unread_.store(false, std::memory_order_release);
}

std::vector<EdgeRecord> describe_region(GraphState& graph, std::vector<cudaGraphNode_t>&& natives, std::uint32_t first,
                                        const CaptureNames& names) {
    const auto known = static_cast<std::uint32_t>(graph.nodes().size());
    Description description = describe_nodes(graph, std::move(natives), first, known, names);
    description.edges = EdgeReader(graph, description.natives).edges(known);
    std::vector<EdgeRecord> edges = description.edges;
    graph.append_described(std::move(description));
    return edges;
}

std::shared_ptr<GraphState> captured_graph(cudaGraph_t native, CaptureNames&& names) {
    const SourceLocation made_at = names.location();
    return std::make_shared<GraphState>(native, std::make_shared<const CaptureNames>(std::move(names)), made_at);
}

std::shared_ptr<GraphState> adopted_graph(cudaGraph_t native) {
    auto graph = captured_graph(native, CaptureNames(0, {}));
    try {
        graph->read_all();
        static_cast<void>(find_device_updatable(*graph)); // such graphs are uploaded before launches
    } catch (...) {
        graph->give_up_native();
        throw;
    }
    return graph;
}

} // namespace cudag::detail
