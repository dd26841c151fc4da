// Describes nodes that were made without cudag: read from CUDA first, then appended as a whole.
#include "describe.hpp"

#include "device_side.hpp"
#include "driver.hpp"
#include "edge_data.hpp"
#include "failure.hpp"
#include "kernel_attributes.hpp"
#include "kernel_name.hpp"

#include <cudag/detail/cuda_compat.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <span>
#include <unordered_map>
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
    std::vector<GraphAllocation> allocations; ///< all of the graph
    std::vector<Inner> nested;
};

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

void require(CUresult result, const char* operation) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_call<GraphError>(to_runtime(result), operation, {}, Api::driver);
}

/// Reads the parameters of new nodes of a graph; functions are described once each.
class Describer {
  public:
    /// `first` is the index of the first new node.
    Describer(GraphState& graph, Description& description, std::size_t first)
        : graph_(graph), description_(description), first_(first) {
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
        require(driver().graph_kernel_node_get_params(node, &native), "cuGraphKernelNodeGetParams");
        const KernelSignature& signature = signature_in_graph(native.func);
        auto* memory = graph_.allocate_bytes(sizeof(KernelParams) + signature.bytes);
        std::byte* values = memory + sizeof(KernelParams);
        if (native.kernelParams != nullptr)
            copy_values(signature, native.kernelParams, values);
        else
            copy_buffer(signature, native.extra, values);
        const KernelParams* params = new (memory) KernelParams{native.func,
                                                               nullptr,
                                                               &signature,
                                                               {{native.gridDimX, native.gridDimY, native.gridDimZ},
                                                                {native.blockDimX, native.blockDimY, native.blockDimZ},
                                                                native.sharedMemBytes},
                                                               values,
                                                               native.kern,
                                                               node};
        return params;
    }

    static void copy_values(const KernelSignature& signature, void* const* arguments, std::byte* values) {
        for (std::uint32_t i = 0; i < signature.count; ++i)
            std::memcpy(values + signature.parameters[i].offset, arguments[i], signature.parameters[i].size);
    }

    /// Of a launch that gave its arguments as one block, in the layout that `values` has, too.
    static void copy_buffer(const KernelSignature& signature, void* const* extra, std::byte* values) {
        const void* buffer = nullptr;
        std::size_t bytes = 0;
        for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2)
            if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
                buffer = extra[1];
            else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
                bytes = *static_cast<const std::size_t*>(extra[1]);
        std::memset(values, 0, signature.bytes);
        if (buffer != nullptr) std::memcpy(values, buffer, std::min<std::size_t>(bytes, signature.bytes));
    }

    const KernelSignature& signature_in_graph(CUfunction function) {
        if (function != last_function_) { // most graphs launch one kernel many times in a row
            const KernelSignature*& signature = signatures_[function];
            if (signature == nullptr) signature = signature_of(graph_, function);
            last_signature_ = signature;
            last_function_ = function;
        }
        return *last_signature_;
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
        return static_cast<std::uint32_t>(first_ + description_.records.size());
    }

    GraphState& graph_;
    Description& description_;
    std::size_t first_;
    CUfunction last_function_ = nullptr;
    const KernelSignature* last_signature_ = nullptr;
    std::unordered_map<CUfunction, const KernelSignature*> signatures_;
};

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::vector<cudaGraphNode_t> nodes(64); // enough for most: then CUDA is asked once
    std::size_t count = nodes.size();
    require(driver().graph_get_nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    if (count == nodes.size()) {
        require(driver().graph_get_nodes(graph, nullptr, &count), "cuGraphGetNodes");
        nodes.resize(count);
        require(driver().graph_get_nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    }
    nodes.resize(count);
    return nodes;
}

/// The indices of nodes by CUDA's handles.
class NodeIndices {
  public:
    explicit NodeIndices(std::span<const cudaGraphNode_t> nodes) : nodes_(nodes) {
        while (slots_.size() < 2 * nodes.size())
            slots_.resize(2 * slots_.size(), none);
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            std::size_t slot = first_slot(nodes[i]);
            while (slots_[slot] != none)
                slot = (slot + 1) % slots_.size();
            slots_[slot] = i;
        }
    }

    /// `none` for a node that was not there.
    [[nodiscard]] std::uint32_t find(cudaGraphNode_t node) const noexcept {
        std::size_t slot = first_slot(node);
        while (slots_[slot] != none && nodes_[slots_[slot]] != node)
            slot = (slot + 1) % slots_.size();
        return slots_[slot];
    }

    static constexpr auto none = std::numeric_limits<std::uint32_t>::max();

  private:
    [[nodiscard]] std::size_t first_slot(cudaGraphNode_t node) const noexcept {
        // multiplied, so that the places of neighbours are far apart; the size is a power of two
        return (reinterpret_cast<std::uintptr_t>(node) * std::uint64_t{0x9e3779b97f4a7c15} >> 32U) % slots_.size();
    }

    std::span<const cudaGraphNode_t> nodes_;
    std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(16, none);
};

/// Reads the edges of nodes, one node after the other, which costs CUDA a fraction of listing those of a graph.
class EdgeReader {
  public:
    /// `nodes` are all that there are records of; others were added through CUDA's handle, and remain unknown.
    explicit EdgeReader(std::span<const cudaGraphNode_t> nodes) : nodes_(nodes), indices_(nodes) {}

    /// The edges to nodes from number `first` on, by node, and from earlier nodes first.
    [[nodiscard]] std::vector<EdgeRecord> edges_to(std::size_t first) {
        std::vector<EdgeRecord> edges;
        edges.reserve(nodes_.size() - first);
        for (auto to = static_cast<std::uint32_t>(first); to < nodes_.size(); ++to) {
            const std::size_t begin = edges.size();
            for (std::size_t i = 0, count = read(nodes_[to]); i < count; ++i) {
                // most nodes of a captured graph depend on the one before
                const std::uint32_t from = to > 0 && from_[i] == nodes_[to - 1] ? to - 1 : indices_.find(from_[i]);
                if (from != NodeIndices::none) edges.push_back({from, to, edge_kind(data_[i])});
            }
            std::sort(edges.begin() + static_cast<std::ptrdiff_t>(begin), edges.end(),
                      [](const EdgeRecord& a, const EdgeRecord& b) { return a.from < b.from; });
        }
        return edges;
    }

  private:
    /// How many nodes `node` depends on, which stand in `from_` then.
    std::size_t read(cudaGraphNode_t node) {
        const auto ask = [&](std::size_t room) {
            require(driver().graph_node_get_dependencies(node, room == 0 ? nullptr : from_.data(),
                                                         room == 0 ? nullptr : data_.data(), &room),
                    "cuGraphNodeGetDependencies");
            return room;
        };
        const std::size_t count = ask(from_.size());
        if (count < from_.size()) return count;
        const std::size_t all = ask(0);
        from_.resize(all + 1);
        data_.resize(all + 1);
        return ask(all + 1);
    }

    std::span<const cudaGraphNode_t> nodes_;
    NodeIndices indices_;
    std::vector<cudaGraphNode_t> from_ = std::vector<cudaGraphNode_t>(8);
    std::vector<CUgraphEdgeData> data_ = std::vector<CUgraphEdgeData>(8);
};

bool has_early(const std::vector<EdgeRecord>& edges) {
    return std::any_of(edges.begin(), edges.end(), [](const EdgeRecord& edge) { return edge.kind != EdgeKind::full; });
}

/// The graph inside a child node, which owns it.
std::shared_ptr<GraphState> describe_inside(cudaGraphNode_t child) {
    cudaGraph_t native = nullptr;
    checked<GraphError>(cudaGraphChildGraphNodeGetGraph(child, &native), "cudaGraphChildGraphNodeGetGraph");
    auto inner = std::make_shared<GraphState>(native, CaptureNames(0, {}));
    inner->give_up_native();
    inner->read_nodes();
    return inner;
}

/// Gives the records of nodes, `first` being the number of the first one, their names.
void name_records(GraphState& graph, std::vector<NodeRecord>& records, std::size_t first, const CaptureNames& names) {
    for (const NamedNodes& stretch : names.stretches()) {
        const std::size_t begin = std::max<std::size_t>(stretch.first, first) - first;
        const std::size_t end = std::min(std::max<std::size_t>(stretch.end, first) - first, records.size());
        if (begin >= end) continue;
        const std::string_view label = graph.store(std::string_view(stretch.label));
        for (std::size_t i = begin; i < end; ++i) {
            records[i].label = label;
            records[i].location = stretch.location;
        }
    }
}

/// The nodes of CUDA's graph from number `first` on, the first of which has the index `known`. No edges.
Description describe_nodes(GraphState& graph, std::size_t first, std::size_t known,
                           const std::vector<GraphAllocation>& allocations, const CaptureNames& names) {
    Description description;
    std::vector<cudaGraphNode_t>& natives = description.natives;
    natives = nodes_of(graph.native());
    natives.erase(natives.begin(), natives.begin() + static_cast<std::ptrdiff_t>(first));
    description.allocations = allocations;
    description.records.reserve(natives.size());
    Describer describer(graph, description, known);
    for (const cudaGraphNode_t native : natives) {
        CUgraphNodeType driver_type{};
        require(driver().graph_node_get_type(native, &driver_type), "cuGraphNodeGetType");
        const auto type = static_cast<cudaGraphNodeType>(driver_type); // value for value
        const NodeParams params = describer.describe(native, type);
        if (type == cudaGraphNodeTypeGraph)
            description.nested.push_back(
                {static_cast<std::uint32_t>(known + description.records.size()), describe_inside(native)});
        description.records.emplace_back(static_cast<NodeKind>(type), params, std::string_view(), names.location());
    }
    name_records(graph, description.records, first, names);
    return description;
}

/// Describing is rare, and graphs are many: one for all.
std::recursive_mutex& reading() {
    static std::recursive_mutex mutex;
    return mutex;
}

} // namespace

void GraphState::append_described(Description&& description) {
    reserve_more(edges_, description.edges.size());
    reserve_more(nested_, description.nested.size());
    const bool memory = std::any_of(description.records.begin(), description.records.end(), [](const NodeRecord& node) {
        return node.kind == NodeKind::alloc || node.kind == NodeKind::free;
    });
    if (nodes_.empty()) {
        nodes_ = std::move(description.records);
        natives_ = std::move(description.natives);
    } else {
        reserve_more(nodes_, description.records.size());
        reserve_more(natives_, description.natives.size());
        nodes_.insert(nodes_.end(), description.records.begin(), description.records.end());
        natives_.insert(natives_.end(), description.natives.begin(), description.natives.end());
    }
    edges_.insert(edges_.begin() + static_cast<std::ptrdiff_t>(native_edges_), description.edges.begin(),
                  description.edges.end());
    native_edges_ += description.edges.size();
    has_early_edges_ = has_early_edges_ || has_early(description.edges);
    allocations_ = std::move(description.allocations);
    for (Description::Inner& inner : description.nested)
        attach(std::move(inner.graph), inner.node, Place::child); // CUDA shows no bodies of conditionals
    keeps_nodes_ = keeps_nodes_ || memory;
    described_ = true;
}

void GraphState::read_nodes_now() const {
    const std::lock_guard lock(reading());
    if (!nodes_unread_.load(std::memory_order_relaxed)) return;
    auto& self = const_cast<GraphState&>(*this); // what it is does not change, only what of it is known
    self.append_described(describe_nodes(self, 0, 0, {}, *names_));
    self.names_ = nullptr;
    if (parent_ == nullptr) self.node_total_ = self.number_from(0);
    self.nodes_unread_.store(false, std::memory_order_release);
}

void GraphState::read_edges_now() const {
    const std::lock_guard lock(reading());
    if (!edges_unread_.load(std::memory_order_relaxed)) return;
    auto& self = const_cast<GraphState&>(*this);
    self.edges_ = EdgeReader(natives()).edges_to(0);
    self.native_edges_ = edges_.size();
    self.has_early_edges_ = has_early(edges_);
    self.edges_unread_.store(false, std::memory_order_release);
}

void describe_region(GraphState& graph, std::uint32_t first, const CaptureNames& names) {
    const std::size_t known = graph.nodes().size();
    Description description = describe_nodes(graph, first, known, graph.allocations(), names);
    std::vector<cudaGraphNode_t> all = graph.natives();
    all.insert(all.end(), description.natives.begin(), description.natives.end());
    description.edges = EdgeReader(all).edges_to(known);
    graph.append_described(std::move(description));
}

std::shared_ptr<GraphState> captured_graph(cudaGraph_t native, CaptureNames&& names) {
    return std::make_shared<GraphState>(native, std::move(names));
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
