// Descriptions of graphs made without cudag: read from CUDA first, then appended as a whole.
#include "reader.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "edge_reader.hpp"
#include "graph/device_rules.hpp"
#include "graph/graph_state.hpp"
#include "graph/read_nodes.hpp"
#include "lists/none.hpp"
#include "lists/spare_block.hpp"
#include "node/kernel_attributes.hpp"
#include "node/rules.hpp"
#include "node_reader.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// Describes a graph inside a node, its owner.
std::shared_ptr<GraphState> describe_inside(cudaGraph_t native) {
    auto inner = captured_graph(native, CaptureNames(0, {}));
    inner->set_owns_native(false);
    inner->records().read_nodes();
    return inner;
}

std::shared_ptr<GraphState> describe_child(cudaGraphNode_t child) {
    return describe_inside(child_graph_of(child));
}

/// Describes a conditional with its bodies and its condition; returns nothing for a driver that does not report them.
NodeParams describe_conditional(GraphState& graph, cudaGraphNode_t native, std::uint32_t index,
                                ReadNodes& description) {
    const std::optional<ReadConditional> read = read_conditional(native);
    if (!read) return std::monostate();
    for (std::uint32_t i = 0; i < read->params.bodies; ++i)
        description.nested.push_back({index, describe_inside(read->bodies[i]), Place::body, read->device});
    ConditionRecord condition{read->params.condition, std::nullopt, read->device, {}};
    condition.node = index;
    condition.is_read = true;
    description.conditions.push_back(condition);
    return graph.records().memory().store(read->params);
}

/// Names the records that lack a name; the first has number `first`. Names each once: near-linear in nodes and names,
/// however deep steps are nested.
void name_records(std::span<NodeRecord> records, std::size_t first, const CaptureNames& names) {
    if (names.stretches().empty()) return;
    std::vector<const NamedNodes*> nearest_first;
    for (const NamedNodes& stretch : names.stretches())
        nearest_first.push_back(&stretch);
    std::ranges::stable_sort(nearest_first, std::greater(), &NamedNodes::depth);
    std::vector<std::size_t> unnamed(records.size() + 1); // for each place, where to look for a node without a name
    std::iota(unnamed.begin(), unnamed.end(), std::size_t{0});
    const auto next_unnamed = [&](std::size_t i) {
        while (unnamed[i] != i)
            i = unnamed[i] = unnamed[unnamed[i]];
        return i;
    };
    const SourceLocation& begun_at = names.location();
    for (const NamedNodes* stretch : nearest_first) {
        const std::size_t begin = std::max<std::size_t>(stretch->first, first) - first;
        const std::size_t end = std::min(std::max<std::size_t>(stretch->end, first) - first, records.size());
        if (begin >= end) continue;
        const Label label(stretch->label);
        for (std::size_t i = next_unnamed(begin); i < end; i = next_unnamed(i)) {
            unnamed[i] = i + 1;
            SourceLocation& where = records[i].location;
            if (where.line == begun_at.line && where.file == begun_at.file)
                where = stretch->location; // other nodes were written
            if (records[i].label.empty()) records[i].label = label;
        }
    }
}

/// Describes `natives`, nodes of CUDA's graph with indices from `known` on, without edges and names.
ReadNodes describe_nodes(GraphState& graph, std::vector<cudaGraphNode_t>&& natives, std::size_t known,
                         const SourceLocation& where) {
    ReadNodes description;
    description.natives = std::move(natives);
    description.records.reserve(description.natives.size());
    NodeReader reader(graph, description.allocations);
    for (const cudaGraphNode_t native : description.natives) {
        const NodeKind kind = kind_of(native);
        if (is_graph_memory(kind) && !std::exchange(description.has_memory, true) && known != 0)
            description.allocations = graph.records().allocations().list();
        description.has_joins = description.has_joins || kind == NodeKind::empty;
        const auto index = static_cast<std::uint32_t>(known + description.records.size());
        const NodeParams params = kind == NodeKind::conditional
                                      ? describe_conditional(graph, native, index, description)
                                      : reader.read(native, kind, index);
        if (kind == NodeKind::child) description.nested.push_back({index, describe_child(native)});
        description.records.emplace_back(kind, params, Label(), where);
    }
    return description;
}

/// One mutex for all graphs: descriptions are rare, and graphs are many.
std::recursive_mutex& reading() {
    static std::recursive_mutex mutex;
    return mutex;
}

/// Finds the nodes of `front` among `nodes`. A single one is the latest node, and is left out.
std::vector<std::uint32_t> numbers_of(std::span<const cudaGraphNode_t> nodes, std::span<const cudaGraphNode_t> front) {
    std::vector<std::uint32_t> numbers;
    if (front.size() < 2) return numbers;
    const NodeIndices indices(nodes);
    for (const cudaGraphNode_t node : front)
        if (const std::uint32_t number = indices.find(nodes, node); number != none) numbers.push_back(number);
    return numbers;
}

void note_front(GraphEdges& edges, std::size_t nodes, std::vector<std::uint32_t>&& numbers) {
    if (!numbers.empty()) edges.note_front(nodes, std::move(numbers));
}

class CapturedRecords : public Unread {
  public:
    CapturedRecords(CaptureNames&& names, std::vector<cudaGraphNode_t>&& front, std::vector<CapturedLaunch>&& launches)
        : names_(std::move(names)), front_(std::move(front)), launches_(std::move(launches)) {}

    void read_nodes() override {
        const std::lock_guard lock(reading());
        if (!nodes()) return;
        std::vector<cudaGraphNode_t> natives = nodes_of(graph().native());
        const std::size_t count = natives.size();
        std::vector<std::uint32_t> front = numbers_of(natives, front_);
        ReadNodes description = describe_nodes(graph(), std::move(natives), 0, names_->location());
        name_records(description.records, 0, *names_);
        graph().append(std::move(description));
        try {
            note_launches(graph(), launches_);
            note_front(graph().edge_lists(), count, std::move(front));
        } catch (...) { // else the next reader would append the nodes again
            graph().forget_from(0);
            throw;
        }
        graph().number_read_nodes();
        names_.reset();
        front_ = {};
        launches_ = {};
        set_nodes_read();
    }
    void read_edges() override {
        const std::lock_guard lock(reading());
        if (!edges()) return;
        graph().edge_lists().take_native(EdgeReader(graph(), graph().records().natives()).edges(0));
        set_edges_read();
    }

  private:
    std::optional<CaptureNames> names_; ///< of nodes still to be read
    std::vector<cudaGraphNode_t> front_;
    std::vector<CapturedLaunch> launches_;
};

} // namespace

std::vector<EdgeRecord> describe_region(GraphState& graph, std::vector<cudaGraphNode_t>&& natives,
                                        const SourceLocation& where) {
    const auto known = static_cast<std::uint32_t>(graph.records().nodes().size());
    ReadNodes description = describe_nodes(graph, std::move(natives), known, where);
    description.edges = EdgeReader(graph, description.natives).edges(known);
    std::vector<EdgeRecord> edges = description.edges;
    graph.append(std::move(description));
    return edges;
}

void name_nodes(GraphState& graph, std::uint32_t first, std::uint32_t first_native, const CaptureNames& names) {
    name_records(graph.records().records_from(first), first_native, names);
}

void note_front(GraphEdges& edges, std::span<const cudaGraphNode_t> nodes, std::span<const cudaGraphNode_t> front) {
    note_front(edges, nodes.size(), numbers_of(nodes, front));
}

/// Records that a captured kernel declares to wait. CUDA does not report it for nodes.
void note_wait(GraphState& graph, std::uint32_t index) {
    const auto* const* kernel = std::get_if<const KernelParams*>(&graph.records().record(index).params);
    if (kernel == nullptr) return;
    LaunchConfig attributes = (*kernel)->attributes != nullptr ? *(*kernel)->attributes : LaunchConfig();
    attributes.waits_for_previous = true;
    auto* own = new (graph.records().memory().allocate<KernelParams>(1)) KernelParams(**kernel);
    own->attributes = graph.records().memory().store(attributes);
    graph.records().record(index).params = own;
    graph.records().special().waits = true;
}

void note_launches(GraphState& graph, std::span<const CapturedLaunch> launches) {
    DeclaredAccesses& declared = graph.records().initial_accesses();
    for (const CapturedLaunch& launch : launches) {
        const std::uint32_t index = graph.records().find_native(launch.node);
        if (index == none) continue;
        if (launch.signature != nullptr) declared.add_launch(index, *launch.signature);
        declared.add(index, launch.accesses);
        if (launch.waits) note_wait(graph, index);
    }
}

std::shared_ptr<GraphState> captured_graph(cudaGraph_t native, CaptureNames&& names,
                                           std::vector<cudaGraphNode_t>&& front,
                                           std::vector<CapturedLaunch>&& launches) {
    const SourceLocation made_at = names.location();
    auto records = std::make_unique<CapturedRecords>(std::move(names), std::move(front), std::move(launches));
    return make_shared_in_spare<GraphState>(native, std::move(records), made_at);
}

std::shared_ptr<GraphState> adopted_graph(cudaGraph_t native) {
    auto graph = captured_graph(native, CaptureNames(0, {}));
    try {
        read_all(*graph);
        static_cast<void>(find_device_updatable(*graph)); // launches upload graphs with such nodes
    } catch (...) {
        graph->set_owns_native(false);
        throw;
    }
    return graph;
}

} // namespace cudag::detail
