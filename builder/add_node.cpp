// Adds nodes: CUDA validates them at once, the record follows.
#include "add_memory.hpp"
#include "body_copies.hpp"
#include "cuda/driver.hpp"
#include "cuda/kernel_name.hpp"
#include "graph/graph_state.hpp"
#include "new_node.hpp"
#include "node/kernel_attributes.hpp"
#include "node/launch_check.hpp"
#include "node/operands.hpp"
#include "owners/host_call.hpp"

#include <cudag/detail/record.hpp>

#include <cstring>
#include <new>
#include <utility>

namespace cudag::detail {

namespace {

/// The arguments of `call`, copied into the graph's arena; `attributes` are there.
const KernelParams* copy_call(GraphState& graph, const KernelCall& call, CUfunction function,
                              const LaunchConfig* attributes) {
    auto* memory = graph.memory().allocate_bytes(sizeof(KernelParams) + call.signature->bytes);
    std::byte* values = memory + sizeof(KernelParams);
    std::memcpy(values, call.block, call.signature->bytes);
    return new (memory)
        KernelParams{function, call.symbol, call.signature, shape_of(*call.config), values, nullptr, attributes};
}

/// The driver's function for a kernel's symbol: looked up once per kernel and device. This thread then has a context.
template <class MakeSubject>
CUfunction function_of(GraphState& graph, const void* symbol, const MakeSubject& subject) {
    const auto context = reinterpret_cast<std::uintptr_t>(current_context());
    return graph.construction().functions.find<GraphError>(symbol, context, subject);
}

} // namespace

Node add_kernel(GraphState& graph, const KernelCall& call, Owners&& owners, const SourceLocation& where) {
    require_allowed(graph, NodeKind::kernel, where);
    const auto subject = [&] { return new_node_subject(NodeKind::kernel, where, kernel_name(call.symbol)); };
    const CUfunction function = function_of(graph, call.symbol, subject);
    const bool attributed = has_attributes(*call.config);
    if (attributed) [[unlikely]]
        require_attributes(*call.config, call.symbol, LaunchUse::node, subject);
    const KernelParams* params =
        copy_call(graph, call, function, attributed ? graph.memory().store(*call.config) : nullptr);
    graph.reserve_node(owners);
    const CUDA_KERNEL_NODE_PARAMS native = driver_params(function, params->shape, call.values);
    CUDA_KERNEL_NODE_PARAMS bare;
    if (attributed) [[unlikely]] {
        if (graph.special().memory) try_attributes(native, *call.config, call.symbol, subject());
        bare = without_attributes(native, *call.config);
    }
    cudaGraphNode_t node = nullptr;
    const CUresult result =
        driver().graph_add_kernel_node(&node, graph.native(), nullptr, 0, attributed ? &bare : &native);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_launch<GraphError>(to_runtime(result), "cuGraphAddKernelNode", subject(), Api::driver, *call.config,
                                 call.symbol);
    if (attributed) [[unlikely]]
        set_attributes(node, native, *call.config, call.symbol, subject());
    if (call.config->device_updatable) graph.special().device_updatable = true;
    return graph.append(node, {NodeKind::kernel, params, {}, where}, std::move(owners));
}

Node add_memcpy(GraphState& graph, const CopyParams& copy, Owners&& owners, const SourceLocation& where) {
    require_allowed(graph, NodeKind::memcpy, where);
    require_copy(copy, [&] { return new_node_subject(NodeKind::memcpy, where); });
    require_unfreed(graph, copy.destination, "destination", NodeKind::memcpy, where);
    require_unfreed(graph, copy.source, "source", NodeKind::memcpy, where);
    const CopyParams* params = graph.memory().store(copy);
    require_body_copy(graph, params, where);
    graph.reserve_node(owners.size());
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = cudaGraphAddMemcpyNode1D(&node, graph.native(), nullptr, 0, copy.destination,
                                                        copy.source, copy.source_size * copy.element_bytes, copy.kind);
    if (status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphAddMemcpyNode1D", new_node_subject(NodeKind::memcpy, where));
    return graph.append(node, {NodeKind::memcpy, params, {}, where}, std::move(owners));
}

Node add_memset(GraphState& graph, const SetParams& set, Owners&& owners, const SourceLocation& where) {
    require_allowed(graph, NodeKind::memset, where);
    require_set(set, [&] { return new_node_subject(NodeKind::memset, where); });
    require_unfreed(graph, set.destination, "destination", NodeKind::memset, where);
    const SetParams* params = graph.memory().store(set);
    graph.reserve_node(owners.size());
    const cudaMemsetParams native = runtime_params(set);
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = cudaGraphAddMemsetNode(&node, graph.native(), nullptr, 0, &native);
    if (status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphAddMemsetNode", new_node_subject(NodeKind::memset, where));
    return graph.append(node, {NodeKind::memset, params, {}, where}, std::move(owners));
}

Node add_host(GraphState& graph, HostTask&& task, const SourceLocation& where) {
    require_allowed(graph, NodeKind::host, where);
    const auto owned = std::make_shared<HostTask>(std::move(task));
    const cudaHostNodeParams* params = graph.memory().store(cudaHostNodeParams{run_host_task, owned.get()});
    Owners owners{{0, owned}};
    graph.reserve_node(owners.size());
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = cudaGraphAddHostNode(&node, graph.native(), nullptr, 0, params);
    if (status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphAddHostNode", new_node_subject(NodeKind::host, where));
    graph.special().host_tasks = true;
    return graph.append(node, {NodeKind::host, params, {}, where}, std::move(owners));
}

Node add_join(GraphState& graph, const Node* from, std::size_t count, const SourceLocation& where) {
    require_allowed(graph, NodeKind::empty, where);
    for (std::size_t i = 0; i < count; ++i)
        static_cast<void>(graph.index_of(from[i], "join"));
    graph.edge_lists().logical().reserve(count);
    graph.reserve_node();
    cudaGraphNode_t native = nullptr;
    const cudaError_t status = cudaGraphAddEmptyNode(&native, graph.native(), nullptr, 0);
    if (status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphAddEmptyNode", new_node_subject(NodeKind::empty, where));
    const Node node = graph.append(native, {NodeKind::empty, std::monostate(), {}, where});
    add_edges(node, from, count);
    return node;
}

} // namespace cudag::detail
