// Describes nodes that were made without cudag: read from CUDA first, then appended as a whole.
#include "describe.hpp"

#include "driver.hpp"
#include "edge_data.hpp"
#include "failure.hpp"
#include "kernel_attributes.hpp"
#include "kernel_name.hpp"

#include <cudag/detail/cuda_compat.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// What is known of new nodes, before the graph has it.
struct Description {
    struct Inner {
        std::uint32_t node;
        std::shared_ptr<GraphState> graph;
    };

    std::vector<NodeRecord> records;
    std::vector<EdgeRecord> edges;
    std::vector<GraphAllocation> allocations; ///< all of the graph
    std::vector<Inner> nested;
    bool device_updatable = false;
};

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

/// Reads the parameters of new nodes of a graph; functions are described once each.
class Describer {
  public:
    Describer(GraphState& graph, Description& description) : graph_(graph), description_(description) {
        bind_context();
    }

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
        if (config.device_updatable) description_.device_updatable = true;
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
        description_.allocations.push_back(
            {reinterpret_cast<std::uintptr_t>(native.dptr), native.bytesize, next_index()});
        return graph_.store(AllocParams{native.dptr, native.bytesize, native.poolProps.location.id});
    }

    NodeParams free(cudaGraphNode_t node) {
        void* address = nullptr;
        checked<GraphError>(cudaGraphMemFreeNodeGetParams(node, &address), "cudaGraphMemFreeNodeGetParams");
        const auto place = reinterpret_cast<std::uintptr_t>(address);
        auto& known = description_.allocations;
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
    [[nodiscard]] std::uint32_t next_index() const {
        return static_cast<std::uint32_t>(graph_.nodes().size() + description_.records.size());
    }

    GraphState& graph_;
    Description& description_;
    std::unordered_map<CUfunction, const KernelSignature*> signatures_;
};

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    checked<GraphError>(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> nodes(count);
    if (count != 0) checked<GraphError>(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
    return nodes;
}

/// The edges to nodes from number `first` on.
std::vector<EdgeRecord> edges_to(const std::unordered_map<cudaGraphNode_t, std::uint32_t>& indices, cudaGraph_t graph,
                                 std::size_t first) {
    std::size_t count = 0;
    checked<GraphError>(compat::graph_get_edges(graph, nullptr, nullptr, nullptr, &count), "cudaGraphGetEdges");
    if (count == 0) return {};
    std::vector<cudaGraphNode_t> from(count);
    std::vector<cudaGraphNode_t> to(count);
    std::vector<cudaGraphEdgeData> data(count);
    checked<GraphError>(compat::graph_get_edges(graph, from.data(), to.data(), data.data(), &count),
                        "cudaGraphGetEdges");
    std::vector<EdgeRecord> edges;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t target = indices.at(to[i]);
        if (target >= first) edges.push_back({indices.at(from[i]), target, edge_kind(data[i])});
    }
    return edges;
}

/// The graph inside a child node, which owns it.
std::shared_ptr<GraphState> describe_inside(cudaGraphNode_t child) {
    cudaGraph_t native = nullptr;
    checked<GraphError>(cudaGraphChildGraphNodeGetGraph(child, &native), "cudaGraphChildGraphNodeGetGraph");
    auto inner = std::make_shared<GraphState>(native);
    inner->give_up_native();
    describe_region(*inner, 0, CaptureNames(0, {}));
    inner->set_built();
    return inner;
}

/// Gives the records of nodes, `first` being the number of the first one, their names.
void name_records(GraphState& graph, std::vector<NodeRecord>& records, std::uint32_t first, const CaptureNames& names) {
    for (const NamedNodes& stretch : names.stretches()) {
        const std::size_t begin = std::max(stretch.first, first) - first;
        const std::size_t end = std::min<std::size_t>(std::max(stretch.end, first) - first, records.size());
        if (begin >= end) continue;
        const std::string_view label = graph.store(std::string_view(stretch.label));
        for (std::size_t i = begin; i < end; ++i) {
            records[i].label = label;
            records[i].location = stretch.location;
        }
    }
}

/// Cannot fail once there is room.
void append(GraphState& graph, Description&& description, std::span<const cudaGraphNode_t> natives) {
    graph.reserve_nodes(natives.size());
    graph.reserve_edges(description.edges.size());
    graph.reserve_nested(description.nested.size());
    const std::int32_t device = graph.set_builder_device(any_device); // CUDA alone knows theirs
    for (std::size_t i = 0; i < natives.size(); ++i)
        graph.append(natives[i], description.records[i]);
    graph.set_builder_device(device);
    graph.append_native_edges(description.edges);
    graph.allocations() = std::move(description.allocations);
    for (Description::Inner& inner : description.nested)
        graph.attach(std::move(inner.graph), inner.node, Place::child); // CUDA shows no bodies of conditionals
    if (description.device_updatable) graph.set_device_updatable();
}

} // namespace

void describe_region(GraphState& graph, std::uint32_t first, const CaptureNames& names) {
    const std::vector<cudaGraphNode_t> natives = nodes_of(graph.native());
    const std::size_t known = graph.nodes().size();
    const std::span<const cudaGraphNode_t> fresh = std::span(natives).subspan(first);

    Description description;
    description.allocations = graph.allocations();
    description.records.reserve(fresh.size());
    Describer describer(graph, description);
    std::unordered_map<cudaGraphNode_t, std::uint32_t> indices;
    for (std::uint32_t i = 0; i < known; ++i)
        indices[graph.natives()[i]] = i;
    for (const cudaGraphNode_t native : fresh) {
        const auto index = static_cast<std::uint32_t>(known + description.records.size());
        cudaGraphNodeType type{};
        checked<GraphError>(cudaGraphNodeGetType(native, &type), "cudaGraphNodeGetType");
        description.records.emplace_back(static_cast<NodeKind>(type), describer.describe(native, type),
                                         std::string_view(), names.location());
        if (type == cudaGraphNodeTypeGraph) description.nested.push_back({index, describe_inside(native)});
        indices[native] = index;
    }
    description.edges = edges_to(indices, graph.native(), known);
    name_records(graph, description.records, first, names);
    append(graph, std::move(description), fresh);
}

std::shared_ptr<GraphState> captured_graph(cudaGraph_t native, CaptureNames&& names) {
    auto graph = std::make_shared<GraphState>(native);
    try {
        describe_region(*graph, 0, names);
    } catch (...) {
        graph->give_up_native();
        throw;
    }
    graph->set_built();
    return graph;
}

std::shared_ptr<GraphState> adopted_graph(cudaGraph_t native) {
    return captured_graph(native, CaptureNames(0, {}));
}

} // namespace cudag::detail
