// Adds kernel nodes: the way that is to be short.
#include "cuda/driver.hpp"
#include "cuda/kernel_name.hpp"
#include "graph/graph_state.hpp"
#include "new_node.hpp"
#include "node/kernel_attributes.hpp"
#include "node/launch_check.hpp"

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
        KernelParams{function, call.symbol, call.signature, call.config->shape, values, nullptr, attributes};
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
    const LaunchConfig* attributes = given_attributes(*call.config);
    if (attributes != nullptr) [[unlikely]] {
        require_attributes(*attributes, call.symbol, LaunchUse::node, subject);
        attributes = graph.memory().store(*attributes);
    }
    const KernelParams* params = copy_call(graph, call, function, attributes);
    graph.reserve_node(owners);
    const CUDA_KERNEL_NODE_PARAMS native = driver_params(function, params->shape, call.values);
    CUDA_KERNEL_NODE_PARAMS bare;
    if (attributes != nullptr) [[unlikely]] {
        if (graph.special().memory) try_attributes(native, *attributes, call.symbol, subject());
        bare = without_attributes(native, *attributes);
    }
    cudaGraphNode_t node = nullptr;
    const CUresult result =
        driver().graph_add_kernel_node(&node, graph.native(), nullptr, 0, attributes != nullptr ? &bare : &native);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_launch<GraphError>(to_runtime(result), "cuGraphAddKernelNode", subject(), Api::driver,
                                 config_of(*call.config), call.symbol);
    if (attributes != nullptr) [[unlikely]] {
        set_attributes(node, native, *attributes, call.symbol, subject());
        graph.special().attributes = true;
        if (attributes->device_updatable) graph.special().device_updatable = true;
    }
    return graph.append(node, {NodeKind::kernel, params, {}, where}, std::move(owners));
}

} // namespace cudag::detail
