// Graph::adopt: describes a graph that was made with CUDA's own functions.
#include <cudag/graph.hpp>

#include "driver.hpp"
#include "edge_data.hpp"
#include "failure.hpp"
#include "graph_state.hpp"
#include "kernel_attributes.hpp"
#include "kernel_name.hpp"

#include <cudag/detail/cuda_compat.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// The driver knows a function's parameters, so the arguments can be read without its C++ type.
const KernelSignature* signature_of(GraphState& graph, CUfunction function) {
    std::vector<Parameter> found;
    for (;;) {
        std::size_t offset = 0;
        std::size_t size = 0;
        const CUresult result = driver().func_get_param_info(function, found.size(), &offset, &size);
        if (result == CUDA_ERROR_INVALID_VALUE) break; // past the last one
        if (result != CUDA_SUCCESS)
            raise_call<GraphError>(to_runtime(result), "cuFuncGetParamInfo", {kernel_name(function)}, Api::driver);
        found.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    }
    auto* parameters = graph.allocate<Parameter>(found.size());
    std::copy(found.begin(), found.end(), parameters);
    const std::uint32_t bytes = found.empty() ? 0 : found.back().offset + found.back().size;
    return graph.store(KernelSignature{parameters, static_cast<std::uint32_t>(found.size()), bytes});
}

/// Reads the parameters of nodes; functions are described once each.
class Describer {
  public:
    explicit Describer(GraphState& graph) : graph_(graph) { bind_context(); }

    NodeParams describe(cudaGraphNode_t node, cudaGraphNodeType type) {
        switch (type) {
        case cudaGraphNodeTypeKernel:
            return kernel(node);
        case cudaGraphNodeTypeMemcpy:
            return memcpy(node);
        case cudaGraphNodeTypeMemset:
            return memset(node);
        case cudaGraphNodeTypeHost:
            return host(node);
        case cudaGraphNodeTypeEventRecord:
            return recorded_event(node);
        case cudaGraphNodeTypeWaitEvent:
            return awaited_event(node);
        case cudaGraphNodeTypeExtSemaphoreSignal: {
            cudaExternalSemaphoreSignalNodeParams native{};
            checked<GraphError>(cudaGraphExternalSemaphoresSignalNodeGetParams(node, &native),
                                "cudaGraphExternalSemaphoresSignalNodeGetParams");
            return semaphores(native, true);
        }
        case cudaGraphNodeTypeExtSemaphoreWait: {
            cudaExternalSemaphoreWaitNodeParams native{};
            checked<GraphError>(cudaGraphExternalSemaphoresWaitNodeGetParams(node, &native),
                                "cudaGraphExternalSemaphoresWaitNodeGetParams");
            return semaphores(native, false);
        }
        case cudaGraphNodeTypeMemAlloc:
            return alloc(node);
        case cudaGraphNodeTypeMemFree:
            return free(node);
        default:
            return std::monostate();
        }
    }

  private:
    NodeParams kernel(cudaGraphNode_t node) {
        CUDA_KERNEL_NODE_PARAMS native{};
        const CUresult result = driver().graph_kernel_node_get_params(node, &native);
        if (result != CUDA_SUCCESS)
            raise_call<GraphError>(to_runtime(result), "cuGraphKernelNodeGetParams", {}, Api::driver);
        if (native.func == nullptr) return std::monostate();
        const KernelSignature*& signature = signatures_[native.func];
        if (signature == nullptr) signature = signature_of(graph_, native.func);
        if (signature->count > 0 && native.kernelParams == nullptr) return std::monostate(); // they stand in `extra`
        auto* values = graph_.allocate_bytes(signature->bytes);
        for (std::uint32_t i = 0; i < signature->count; ++i)
            std::memcpy(values + signature->parameters[i].offset, native.kernelParams[i],
                        signature->parameters[i].size);
        LaunchConfig config{{native.gridDimX, native.gridDimY, native.gridDimZ},
                            {native.blockDimX, native.blockDimY, native.blockDimZ},
                            native.sharedMemBytes};
        read_attributes(node, config);
        if (config.device_updatable) graph_.set_device_updatable();
        return graph_.store(KernelParams{native.func, nullptr, signature, config, values});
    }

    NodeParams memcpy(cudaGraphNode_t node) {
        cudaMemcpy3DParms native{};
        checked<GraphError>(cudaGraphMemcpyNodeGetParams(node, &native), "cudaGraphMemcpyNodeGetParams");
        const bool is_1d = native.srcArray == nullptr && native.dstArray == nullptr && native.extent.height == 1 &&
                           native.extent.depth == 1;
        if (!is_1d) return graph_.store(native);
        return graph_.store(CopyParams{static_cast<char*>(native.dstPtr.ptr) + native.dstPos.x,
                                       static_cast<const char*>(native.srcPtr.ptr) + native.srcPos.x,
                                       native.extent.width, native.extent.width, 1, native.kind});
    }

    NodeParams memset(cudaGraphNode_t node) {
        cudaMemsetParams native{};
        checked<GraphError>(cudaGraphMemsetNodeGetParams(node, &native), "cudaGraphMemsetNodeGetParams");
        return graph_.store(
            SetParams{native.dst, native.width, native.elementSize, native.value, native.height, native.pitch});
    }

    NodeParams host(cudaGraphNode_t node) {
        cudaHostNodeParams native{};
        checked<GraphError>(cudaGraphHostNodeGetParams(node, &native), "cudaGraphHostNodeGetParams");
        return graph_.store(native);
    }

    NodeParams recorded_event(cudaGraphNode_t node) {
        cudaEvent_t event = nullptr;
        checked<GraphError>(cudaGraphEventRecordNodeGetEvent(node, &event), "cudaGraphEventRecordNodeGetEvent");
        return graph_.store(EventParams{event, true});
    }

    NodeParams awaited_event(cudaGraphNode_t node) {
        cudaEvent_t event = nullptr;
        checked<GraphError>(cudaGraphEventWaitNodeGetEvent(node, &event), "cudaGraphEventWaitNodeGetEvent");
        return graph_.store(EventParams{event, false});
    }

    template <class Native>
    NodeParams semaphores(const Native& native, bool signals) {
        auto* list = graph_.allocate<SemaphoreOperation>(native.numExtSems);
        for (unsigned i = 0; i < native.numExtSems; ++i)
            list[i] = {native.extSemArray[i], native.paramsArray[i].params.fence.value};
        return graph_.store(SemaphoreParams{signals, native.numExtSems, list});
    }

    NodeParams alloc(cudaGraphNode_t node) {
        cudaMemAllocNodeParams native{};
        checked<GraphError>(cudaGraphMemAllocNodeGetParams(node, &native), "cudaGraphMemAllocNodeGetParams");
        graph_.allocations().push_back({reinterpret_cast<std::uintptr_t>(native.dptr), native.bytesize, next_index()});
        return graph_.store(AllocParams{native.dptr, native.bytesize, native.poolProps.location.id});
    }

    NodeParams free(cudaGraphNode_t node) {
        void* address = nullptr;
        checked<GraphError>(cudaGraphMemFreeNodeGetParams(node, &address), "cudaGraphMemFreeNodeGetParams");
        const auto place = reinterpret_cast<std::uintptr_t>(address);
        auto& known = graph_.allocations();
        const auto memory = std::find_if(known.begin(), known.end(), [&](const GraphAllocation& each) {
            return each.address == place && !each.free;
        });
        if (memory != known.end())
            memory->free = next_index();
        else
            known.push_back({place, 1, std::nullopt, next_index()});
        return graph_.store(FreeParams{address});
    }

    /// Of the node that is being described.
    [[nodiscard]] std::uint32_t next_index() const { return static_cast<std::uint32_t>(graph_.nodes().size()); }

    GraphState& graph_;
    std::unordered_map<CUfunction, const KernelSignature*> signatures_;
};

void adopt_edges(GraphState& graph, const std::unordered_map<cudaGraphNode_t, std::uint32_t>& indices) {
    std::size_t count = 0;
    checked<GraphError>(compat::graph_get_edges(graph.native(), nullptr, nullptr, nullptr, &count),
                        "cudaGraphGetEdges");
    if (count == 0) return;
    std::vector<cudaGraphNode_t> from(count);
    std::vector<cudaGraphNode_t> to(count);
    std::vector<cudaGraphEdgeData> data(count);
    checked<GraphError>(compat::graph_get_edges(graph.native(), from.data(), to.data(), data.data(), &count),
                        "cudaGraphGetEdges");
    std::vector<EdgeRecord> edges(count);
    for (std::size_t i = 0; i < count; ++i)
        edges[i] = {indices.at(from[i]), indices.at(to[i]), edge_kind(data[i])};
    graph.adopt_edges(std::move(edges));
}

void adopt_nodes(GraphState& graph);

/// The graph inside child node `index`. CUDA shows no bodies of conditionals.
void adopt_child(GraphState& graph, std::uint32_t index) {
    cudaGraph_t native = nullptr;
    checked<GraphError>(cudaGraphChildGraphNodeGetGraph(graph.natives()[index], &native),
                        "cudaGraphChildGraphNodeGetGraph");
    const auto inner = std::make_shared<GraphState>(native);
    inner->give_up_native();
    adopt_nodes(*inner);
    graph.reserve_nested(1);
    graph.attach(inner, index, Place::child);
}

void adopt_nodes(GraphState& graph) {
    std::size_t count = 0;
    checked<GraphError>(cudaGraphGetNodes(graph.native(), nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> natives(count);
    if (count != 0) checked<GraphError>(cudaGraphGetNodes(graph.native(), natives.data(), &count), "cudaGraphGetNodes");

    Describer describer(graph);
    std::unordered_map<cudaGraphNode_t, std::uint32_t> indices;
    for (const cudaGraphNode_t native : natives) {
        cudaGraphNodeType type{};
        checked<GraphError>(cudaGraphNodeGetType(native, &type), "cudaGraphNodeGetType");
        const NodeParams params = describer.describe(native, type);
        graph.reserve_node();
        const auto index = static_cast<std::uint32_t>(graph.nodes().size());
        indices[native] = index;
        graph.append(native, {static_cast<NodeKind>(type), params, {}, {}});
        if (type == cudaGraphNodeTypeGraph) adopt_child(graph, index);
    }
    adopt_edges(graph, indices);
    graph.set_built();
}

} // namespace

} // namespace detail

Graph Graph::adopt(cudaGraph_t graph) {
    if (graph == nullptr) detail::refuse("adopt: the graph is null");
    auto state = std::make_shared<detail::GraphState>(graph);
    try {
        detail::adopt_nodes(*state);
    } catch (...) {
        state->give_up_native();
        throw;
    }
    return Graph(std::move(state));
}

} // namespace cudag
