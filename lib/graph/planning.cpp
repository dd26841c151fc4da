// Planning of a graph: writes its planned edges to CUDA.
#include "planning.hpp"

#include "cuda/compat.hpp"
#include "cuda/compute_capability.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "cuda/numbered_contexts.hpp"
#include "cuda/own_kernels.hpp"
#include "cuda/version.hpp"
#include "edges/edge_set.hpp"
#include "edges/outline.hpp"
#include "edges/reduction.hpp"
#include "graph_edges.hpp"
#include "graph_records.hpp"
#include "graph_tree.hpp"
#include "native_graph.hpp"
#include "node/kernel_attributes.hpp"
#include "node_devices.hpp"
#include "plan/ends.hpp"
#include "plan/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

bool is_event(NodeKind kind) {
    return kind == NodeKind::record_event || kind == NodeKind::wait_event;
}

bool is_at_event(const std::vector<NodeRecord>& nodes, const EdgeRecord& edge) {
    return is_event(nodes[edge.from].kind) || is_event(nodes[edge.to].kind);
}

/// Finds the nodes whose incoming edges must stay: cudag may not change edges to events, possibly captured by a
/// library, or from them. Empty if there are none.
std::vector<bool> kept_nodes(const GraphState& graph, const std::vector<EdgeRecord>& edges) {
    std::vector<bool> kept;
    const std::vector<NodeRecord>& nodes = records_of(graph).nodes();
    if (std::ranges::none_of(nodes, [](const NodeRecord& node) { return is_event(node.kind); })) return kept;
    for (const EdgeRecord& edge : edges) {
        if (!is_at_event(nodes, edge)) continue;
        kept.resize(nodes.size());
        kept[edge.to] = true;
    }
    return kept;
}

struct DeviceRules {
    JoinRules joins;
    LaneCosts lanes;
    bool early = false; ///< whether kernels may start early
};

DeviceRules rules_of_device() {
    const auto [major, minor] = compute_capability();
    return {{join_costs(major, minor), cuda_version() >= since::kernels_from_images},
            lane_costs(major, minor),
            major >= early_launch_major};
}

int device_count() {
    int count = 0;
    checked<GraphError>(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return count;
}

/// Returns the rules of the current device. Asks CUDA once for each device.
const DeviceRules& device_rules() {
    static std::mutex mutex;
    static std::map<int, DeviceRules> known;
    const int device = device_here();
    const std::scoped_lock lock(mutex);
    const auto found = known.find(device);
    return found != known.end() ? found->second : known.emplace(device, rules_of_device()).first->second;
}

/// Returns the device of each node; empty if all are on one. CUDA reports only those of kernels: a copy or fill is on
/// the device given to the builder, or on the device of a node before it.
std::vector<std::uint32_t> devices_of_nodes(const GraphState& graph, const std::vector<EdgeRecord>& edges) {
    if (device_count() == 1) return {};
    bind_context();
    NodeDevices devices;
    constexpr auto unknown = static_cast<std::uint32_t>(any_device);
    const GraphRecords& records = records_of(graph);
    std::vector<std::uint32_t> found(records.natives().size(), unknown);
    for (std::size_t i = 0; i < found.size(); ++i)
        found[i] = static_cast<std::uint32_t>(records.nodes()[i].kind == NodeKind::kernel
                                                  ? devices.of_kernel(records.natives()[i])
                                                  : device_behind(records.nodes()[i].device));
    for (const EdgeRecord& edge : edges)
        if (found[edge.to] == unknown) found[edge.to] = found[edge.from];
    const auto known = std::ranges::find_if(found, [](std::uint32_t device) { return device != unknown; });
    std::ranges::replace(found, unknown, known == found.end() ? 0 : *known);
    const bool is_one = std::ranges::all_of(found, [&](std::uint32_t device) { return device == found.front(); });
    return is_one ? std::vector<std::uint32_t>() : found;
}

/// Finds the kernels that may start early. Early launch is for two kernels of one context: CUDA is asked for contexts
/// if there may be several.
EarlyNodes early_nodes(const GraphState& graph) {
    EarlyNodes found;
    const GraphRecords& records = records_of(graph);
    const std::size_t nodes = records.natives().size();
    const auto kernel_at = [&](std::size_t node) {
        const auto* const* kernel = std::get_if<const KernelParams*>(&records.nodes()[node].params);
        return kernel == nullptr ? nullptr : *kernel;
    };
    bool is_one_context = is_only_device();
    std::map<CUfunction, bool> can_wait;
    bind_context();
    found.roles.resize(nodes);
    for (std::size_t node = 0; node < nodes; ++node) {
        const KernelParams* const kernel = kernel_at(node);
        if (kernel == nullptr) continue;
        found.roles[node] = EarlyRole::plain;
        if (declares_wait(*kernel)) {
            const auto [place, is_new] = can_wait.try_emplace(kernel->function);
            if (is_new) place->second = has_code_for_early_launch(kernel->function);
            if (place->second) found.roles[node] = EarlyRole::waiting;
        }
        is_one_context = is_one_context && kernel->context == nullptr;
    }
    if (is_one_context) {
        if (!device_rules().early) found.roles.clear();
        return found;
    }
    struct Context {
        std::uint32_t number;
        bool is_early;
    };
    std::map<CUcontext, Context> contexts;
    found.contexts.resize(nodes);
    for (std::size_t node = 0; node < nodes; ++node) {
        if (found.roles[node] == EarlyRole::other) continue;
        CUcontext context = read_native_node(records.natives()[node], CU_GRAPH_NODE_TYPE_KERNEL).kernel.ctx;
        const auto number = static_cast<std::uint32_t>(contexts.size());
        const auto [place, is_new] = contexts.try_emplace(context, Context{number, false});
        if (is_new) {
            const int device = device_of_context(context);
            place->second.is_early = compute_capability(device).major >= early_launch_major;
        }
        found.contexts[node] = place->second.number;
        if (!place->second.is_early) found.roles[node] = EarlyRole::other;
    }
    return found;
}

/// Returns the native edges, then the others.
std::vector<EdgeRecord> native_first(const std::vector<EdgeRecord>& native, const std::vector<EdgeRecord>& all) {
    const EdgeSet had(native);
    std::vector<EdgeRecord> edges = native;
    for (const EdgeRecord& edge : all)
        if (!had.contains(edge)) edges.push_back(edge);
    return edges;
}

PlanInput input_of(const GraphState& graph, const std::vector<EdgeRecord>& edges, bool plans_ends, bool wants_early,
                   bool wants_lanes) {
    const GraphRecords& records = records_of(graph);
    PlanInput input{.nodes = records.natives().size(),
                    .edges = edges,
                    .keeps_all = kept_nodes(graph, edges),
                    .rules = device_rules().joins};
    const auto nodes_of = [&](NodeKind kind) {
        std::vector<bool> found;
        found.reserve(input.nodes);
        for (const NodeRecord& node : records.nodes())
            found.push_back(node.kind == kind);
        return found;
    };
    // With several devices, a kernel before and after all nodes would make each device wait for the others.
    if (plans_ends && is_only_device()) input.is_kernel = nodes_of(NodeKind::kernel);
    if (records.special().joins) input.is_join = nodes_of(NodeKind::empty);
    if (wants_early) input.early = early_nodes(graph);
    if (wants_lanes) {
        input.lanes = device_rules().lanes;
        input.devices = devices_of_nodes(graph, edges);
        input.is_off_lanes = input.is_join;
        input.is_off_lanes.resize(input.nodes);
        for (std::size_t node = 0; node < input.nodes; ++node)
            if (is_event(records.nodes()[node].kind)) input.is_off_lanes[node] = true;
    }
    return input;
}

/// Finds a neighbouring kernel node for each kernel of a plan; null if it has none.
std::vector<cudaGraphNode_t> neighbours(const GraphState& graph, const PlannedEdges& planned) {
    const GraphRecords& records = records_of(graph);
    const auto nodes = static_cast<std::uint32_t>(records.natives().size());
    std::vector<cudaGraphNode_t> found(planned.kernels);
    const auto note = [&](std::uint32_t kernel, std::uint32_t node) {
        if (kernel < nodes || node >= nodes || records.nodes()[node].kind != NodeKind::kernel) return;
        if (cudaGraphNode_t& place = found[kernel - nodes]; place == nullptr) place = records.natives()[node];
    };
    for (const EdgeRecord& edge : planned.edges) {
        note(edge.to, edge.from);
        note(edge.from, edge.to);
    }
    return found;
}

/// Adds an empty kernel of one thread in the context of the kernel `neighbour`; on the current device if `neighbour` is
/// null.
cudaGraphNode_t add_nothing(cudaGraph_t graph, cudaGraphNode_t neighbour) {
    CUDA_KERNEL_NODE_PARAMS params{};
    if (neighbour != nullptr) params.ctx = read_native_node(neighbour, CU_GRAPH_NODE_TYPE_KERNEL).kernel.ctx;
    params.kern = reinterpret_cast<CUkernel>(nothing_kernel());
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    cudaGraphNode_t node = nullptr;
    const auto add = [&](const CUDA_KERNEL_NODE_PARAMS& given) {
        return driver().kernels.add(&node, graph, nullptr, 0, &given);
    };
    CUresult added = call_in_context(params, add);
    if (added == CUDA_ERROR_INVALID_CONTEXT && params.ctx != nullptr) {
        params.ctx = nullptr; // the current context
        added = add(params);
    }
    checked_driver<GraphError>(added, driver().kernels.add_name);
    return node;
}

bool can_load_kernel() {
    try {
        static_cast<void>(nothing_kernel());
        return true;
    } catch (const GraphError&) {
        return false;
    }
}

std::optional<PlannedEdges> planned_by(const Plan& plan, PlanInput&& input) {
    std::optional<PlannedEdges> planned = plan_edges(input, plan);
    if (planned && planned->kernels != 0 && !can_load_kernel()) {
        input.rules.kernels = false;
        planned = plan_edges(input, plan);
    }
    return planned;
}

/// Plans a graph with memory nodes. CUDA cannot remove its edges: nodes with incoming native edges keep their edges.
std::optional<PlannedEdges> planned_with_memory(const GraphState& graph, const Plan& plan, bool plans_ends,
                                                bool wants_early) {
    const std::vector<EdgeRecord>& native = edge_lists_of(graph).native();
    const std::vector<EdgeRecord>& written = edges_of(graph);
    const std::size_t nodes = records_of(graph).natives().size();
    const std::vector<EdgeRecord> edges =
        native_first(native, plan.reduce ? reduced(nodes, written, kept_nodes(graph, written)) : written);
    PlanInput input = input_of(graph, edges, plans_ends, wants_early, false);
    input.keeps_all.resize(nodes);
    for (const EdgeRecord& edge : native)
        input.keeps_all[edge.to] = true;
    Plan rest = plan;
    rest.reduce = false;
    rest.lanes = 0;
    rest.durations.clear();
    std::optional<PlannedEdges> planned = planned_by(rest, std::move(input));
    if (planned) planned->edges = native_first(native, planned->edges);
    if (!planned && edges != written) planned = PlannedEdges{edges};
    return planned;
}

/// Whether the ends of a graph of `nodes` nodes are many, or those of a long line.
bool may_plan_ends(std::size_t nodes, const Outline& outline) {
    const std::size_t most = std::max(outline.first_nodes, outline.last_nodes);
    return most >= min_kernels_at_end || (most == 1 && nodes >= min_kernels_in_long_line);
}

std::shared_ptr<const PlannedEdges> shared(std::optional<PlannedEdges>&& planned) {
    return planned ? std::make_shared<const PlannedEdges>(std::move(*planned)) : nullptr;
}

} // namespace

std::shared_ptr<const PlannedEdges> planned_edges(const GraphState& graph, const Plan& plan) {
    if (const PlanInForce& now = edge_lists_of(graph).plan(); now.is_fixed) return now.planned;
    if (records_of(graph).natives().size() < 2) return nullptr;
    const bool has_memory = has_memory_nodes(graph);
    if (plan == Plan::as_written() && !has_memory) return nullptr;
    const bool are_of_another =
        tree_of(graph).parent() != nullptr || plan.durations.size() != records_of(graph).natives().size();
    if (!plan.durations.empty() && are_of_another) {
        Plan rest = plan;
        rest.lanes = 0;
        rest.durations.clear();
        return planned_edges(graph, rest);
    }
    const Outline outline = outline_of(records_of(graph).natives().size(), edges_of(graph));
    const bool has_ends_to_plan =
        plan.ends && tree_of(graph).parent() == nullptr && may_plan_ends(records_of(graph).natives().size(), outline);
    const bool wants_lanes = plan.wants_lanes() && (outline.last_nodes > 1 || outline.has_fan_in); // else it is a line
    const bool wants_early = plan.early && records_of(graph).special().waits;
    if (!records_of(graph).special().joins && !outline.has_fan_in && !has_ends_to_plan && !wants_early && !wants_lanes)
        return nullptr;
    if (has_memory) return shared(planned_with_memory(graph, plan, has_ends_to_plan, wants_early));
    PlanInput input = input_of(graph, edges_of(graph), has_ends_to_plan, wants_early, wants_lanes);
    input.has_fan_in = outline.has_fan_in;
    return shared(planned_by(plan, std::move(input)));
}

namespace {

/// Adds and removes empty kernels so that CUDA's graph has those of `planned`; none if it is null.
void set_plan_kernels(GraphState& graph, const PlannedEdges* planned) {
    std::vector<cudaGraphNode_t>& kernels = edge_lists_of(graph).plan().kernels;
    const std::size_t wanted = planned == nullptr ? 0 : planned->kernels;
    while (kernels.size() > wanted) {
        checked<GraphError>(cudaGraphDestroyNode(kernels.back()), "cudaGraphDestroyNode");
        edge_lists_of(graph).forget_kernels(records_of(graph).natives().size(), kernels.size() - 1);
    }
    if (kernels.size() >= wanted) return;
    std::optional<PlaceGuard> device;
    for (const GraphState* around = &graph; around != nullptr && !device; around = tree_of(*around).parent())
        if (tree_of(*around).place() == Place::body)
            device.emplace(tree_of(*around).device()); // the device of all nodes of a body
    bind_context();
    kernels.reserve(wanted);
    const std::vector<cudaGraphNode_t> near = neighbours(graph, *planned);
    while (kernels.size() < wanted)
        kernels.push_back(add_nothing(native_of(graph), near[kernels.size()]));
}

/// Whether an unread captured graph has so many edges that they cost CUDA more time than reading and planning the
/// graph. If most of its nodes have one incoming edge, there is little to plan.
bool has_many_edges(const GraphState& graph) {
    std::size_t nodes = 0, edges = 0;
    checked<GraphError>(compat::graph_edge_count(native_of(graph), &edges), "cudaGraphGetEdges");
    checked<GraphError>(cudaGraphGetNodes(native_of(graph), nullptr, &nodes), "cudaGraphGetNodes");
    return edges > nodes + nodes / 4;
}

void add_planned(const GraphState& graph, std::vector<PlannedGraph>& found) {
    if (!records_of(graph).is_read()) return;
    if (const auto& planned = edge_lists_of(graph).plan().planned; planned != nullptr)
        found.push_back({&graph, planned});
    for (const auto& inner : nested_of(graph))
        add_planned(*inner, found);
}

} // namespace

std::vector<PlannedGraph> planned_graphs(const GraphState& graph) {
    std::vector<PlannedGraph> found;
    add_planned(graph, found);
    return found;
}

void follow_plan(GraphState& graph, const Plan& plan) {
    if (!records_of(graph).is_read()) { // a captured graph is planned inside a read one, or if the plan pays
        const bool is_inside = tree_of(graph).parent() != nullptr && records_of(root_of(graph)).is_read();
        if (plan == Plan::as_written() || (!is_inside && !plan.wants_lanes() && !has_many_edges(graph))) {
            edge_lists_of(graph).plan().plan = plan; // the native edges stay
            return;
        }
        read_all(graph);
    }
    GraphEdges& edges = edge_lists_of(graph);
    edges.plan_by(plan, planned_edges(graph, plan));
    if (has_memory_nodes(graph)) edges.plan().is_fixed = true;
    const PlannedEdges* const planned = edges.plan().planned.get();
    if (edges.plan().kernels.empty() && (planned == nullptr || planned->kernels == 0)) // usually
        return edges.become_planned(native_of(graph), records_of(graph).natives());
    set_plan_kernels(graph, planned);
    std::vector<cudaGraphNode_t> nodes = records_of(graph).natives();
    nodes.insert(nodes.end(), edges.plan().kernels.begin(), edges.plan().kernels.end());
    edges.become_planned(native_of(graph), nodes);
}

} // namespace cudag::detail
