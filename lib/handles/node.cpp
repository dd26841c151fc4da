// Handles of nodes.
#include <cudag/format.hpp>
#include <cudag/node.hpp>

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "edges/edge_record.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_owners.hpp"
#include "graph/graph_records.hpp"
#include "graph/names.hpp"
#include "graph/node_devices.hpp"
#include "graph/node_record.hpp"
#include "kernel_match.hpp"
#include "node/kernel_attributes.hpp"
#include "order/declarations.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cudag {

using detail::GraphIdentity;
using detail::GraphState;

namespace {

detail::NodeRecord& record_of(const Node& node) {
    return records_of(GraphIdentity::of(node)).record(GraphIdentity::index_unchecked(node));
}

} // namespace

std::string_view to_string(EdgeKind kind) noexcept {
    switch (kind) {
    case EdgeKind::full:
        return "full";
    case EdgeKind::programmatic:
        return "programmatic";
    case EdgeKind::launch_completion:
        return "launch_completion";
    }
    return "unknown";
}

NodeKind Node::kind() const {
    return record_of(*this).kind;
}
std::string_view Node::label() const {
    return record_of(*this).label;
}
SourceLocation Node::location() const {
    return record_of(*this).location;
}
cudaGraphNode_t Node::native() const {
    const GraphState& graph = GraphIdentity::of(*this);
    return records_of(graph).natives()[GraphIdentity::index_unchecked(*this)];
}

std::uint64_t Node::tools_id() const {
    const GraphState& graph = GraphIdentity::of(*this);
    const std::uint32_t index = GraphIdentity::index_unchecked(*this);
    const auto subject = [&] { return node_subject(graph, index, "tools_id of "); };
    if (detail::driver().graph_node_get_tools_id == nullptr)
        detail::refuse("an id for tools needs a driver of CUDA 13.1", subject(), cudaErrorNotSupported);
    unsigned long long id = 0;
    detail::bind_context();
    if (const CUresult result = detail::driver().graph_node_get_tools_id(records_of(graph).natives()[index], &id);
        result != CUDA_SUCCESS)
        detail::raise_call<GraphError>(detail::to_runtime(result), "cuGraphNodeGetToolsId", subject(),
                                       detail::Api::driver);
    return id;
}

namespace {

/// Returns the other ends of the edges with `end` at `node`, each once.
std::vector<Node> neighbours(const Node& node, std::uint32_t detail::EdgeRecord::*end,
                             std::uint32_t detail::EdgeRecord::*other) {
    const GraphState& graph = GraphIdentity::of(node);
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    std::vector<Node> found;
    std::unordered_set<std::uint32_t> known; // a graph under construction may have repeated edges
    for (const detail::EdgeRecord& edge : edges_of(graph))
        if (edge.*end == index && known.insert(edge.*other).second)
            found.push_back(identity_of(graph).handle(edge.*other));
    return found;
}

} // namespace

std::vector<Node> Node::predecessors() const {
    return neighbours(*this, &detail::EdgeRecord::to, &detail::EdgeRecord::from);
}
std::vector<Node> Node::successors() const {
    return neighbours(*this, &detail::EdgeRecord::from, &detail::EdgeRecord::to);
}

Node Node::label(std::string_view text) const {
    record_of(*this).label = detail::Label(text);
    return *this;
}

void detail::declare_accesses(const Node& node, std::vector<ArgumentAccess>&& accesses) {
    GraphState& graph = GraphIdentity::of(node);
    const auto lock = lock_of(graph);
    declare_accesses(graph, GraphIdentity::index_unchecked(node), std::move(accesses));
}

void detail::keep_with_node(const Node& node, std::vector<std::shared_ptr<const void>>&& owners) {
    std::erase(owners, nullptr);
    GraphState& graph = GraphIdentity::of(node);
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    const auto lock = lock_of(graph);
    keep_owners(graph, std::move(owners), index);
}

void Node::require_kind(NodeKind expected) const {
    const GraphState& graph = GraphIdentity::of(*this);
    const std::uint32_t index = GraphIdentity::index_unchecked(*this);
    const NodeKind actual = records_of(graph).nodes()[index].kind;
    if (actual != expected)
        detail::refuse(fmt::format("it is no {} node", expected), detail::node_subject(graph, index, "as: "));
}

void Node::require_conditional(detail::ConditionalKind expected) const {
    const GraphState& graph = GraphIdentity::of(*this);
    const std::uint32_t index = GraphIdentity::index_unchecked(*this);
    const auto* actual = std::get_if<const detail::ConditionalParams*>(&records_of(graph).nodes()[index].params);
    if (actual == nullptr)
        detail::refuse(
            "a driver before CUDA 13.2 does not report which conditional an adopted or captured node is; make "
            "it by if_, while_ or switch_",
            detail::node_subject(graph, index, "as: "));
    if ((*actual)->kind != expected)
        detail::refuse(fmt::format("it is no {} node", to_string(expected)),
                       detail::node_subject(graph, index, "as: "));
}

std::optional<int> Node::device() const {
    const GraphState& graph = GraphIdentity::of(*this);
    const std::uint32_t index = GraphIdentity::index_unchecked(*this);
    const auto lock = lock_of(graph);
    detail::bind_context();
    const int device = detail::NodeDevices().of(graph, index);
    return device == detail::any_device ? std::nullopt : std::optional(device);
}

KernelInfo Node::kernel_info() const {
    const GraphState& graph = GraphIdentity::of(*this);
    const std::uint32_t index = GraphIdentity::index_unchecked(*this);
    const auto lock = lock_of(graph);
    const auto* params = std::get_if<const detail::KernelParams*>(&records_of(graph).params(index));
    if (params == nullptr) detail::refuse("it is no kernel node", detail::node_subject(graph, index, "kernel_info: "));
    const detail::KernelParams& kernel = **params;
    KernelInfo info{detail::kernel_name(kernel.function), full_config(kernel), {}};
    for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
        const detail::Parameter& parameter = kernel.signature->parameters[i];
        info.arguments.emplace_back(kernel.values + parameter.offset, parameter.size);
    }
    return info;
}

void detail::read_argument(const Node& node, std::uint32_t index, void* to, std::size_t bytes) {
    const GraphState& graph = GraphIdentity::of(node);
    const std::uint32_t place = GraphIdentity::index_unchecked(node);
    const auto lock = lock_of(graph);
    const KernelParams& kernel = *std::get<const KernelParams*>(records_of(graph).params(place));
    const bool fits = index < kernel.signature->count && kernel.signature->parameters[index].size == bytes;
    if (!fits)
        refuse(fmt::format("argument {} does not have {} bytes", index, bytes), node_subject(graph, place, "get: "));
    std::memcpy(to, kernel.values + kernel.signature->parameters[index].offset, bytes);
}

cudaGraphDeviceNode_t detail::device_node(const Node& node) {
    const GraphState& graph = GraphIdentity::of(node);
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    const auto subject = [&] { return node_subject(graph, index, "on_device: "); };
    const auto* kernel = std::get_if<const KernelParams*>(&records_of(graph).nodes()[index].params);
    if (kernel == nullptr || !is_device_updatable(**kernel))
        refuse("the node is fixed for kernels; make it with .device_updatable = true", subject());
    records_of(graph).special().device_updatable = true;
    cudaLaunchAttributeValue value{};
    const cudaError_t status =
        cudaGraphKernelNodeGetAttribute(node.native(), cudaLaunchAttributeDeviceUpdatableKernelNode, &value);
    if (status != cudaSuccess) raise_call<GraphError>(status, "cudaGraphKernelNodeGetAttribute", subject());
    return value.deviceUpdatableKernelNode.devNode;
}

namespace {

void require_launch(const Node& node, detail::KernelMatch&& launches, const auto& name) {
    GraphState& graph = GraphIdentity::of(node);
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    if (!launches(records_of(graph).record(index).params))
        detail::refuse(fmt::format("it does not launch {}", name()), node_subject(graph, index, "as: "));
}

} // namespace

void detail::require_kernel(const Node& node, const void* symbol) {
    require_launch(node, KernelMatch(symbol, "as "), [&] { return kernel_name(symbol); });
}
void detail::require_function(const Node& node, const Function& function) {
    require_launch(node, KernelMatch(Access::state(function)), [&] { return function.name(); });
}

} // namespace cudag
