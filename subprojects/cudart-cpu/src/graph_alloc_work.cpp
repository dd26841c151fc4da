// Alloc and free nodes.
#include "graph_alloc_work.hpp"

#include "allocations.hpp"
#include "device_model.hpp"
#include "graph_enum.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace cudart_cpu::detail {

namespace {

void require(bool condition, const std::string& otherwise) {
    if (!condition) fail(cudaErrorInvalidValue, otherwise);
}

void validate(const cudaMemPoolProps& props) {
    require(number_in(props.allocType) == cudaMemAllocationTypePinned,
            text("allocation type ", number_in(props.allocType), " of an alloc node is not pinned"));
    require(number_in(props.handleTypes) == cudaMemHandleTypeNone, "graph allocations cannot be shared");
    require(number_in(props.location.type) == cudaMemLocationTypeDevice,
            text("location type ", number_in(props.location.type), " of an alloc node is not a device"));
    require_device(props.location.id);
    require(std::all_of(std::begin(props.reserved), std::end(props.reserved), [](auto byte) { return byte == 0; }),
            "reserved bytes of the properties of an alloc node are not zero");
}

void validate(const cudaMemAllocNodeParams& params) {
    validate(params.poolProps);
    require(params.bytesize > 0, "an alloc node of 0 bytes");
    require(params.accessDescCount <= device_count(),
            text(params.accessDescCount, " access descriptors for ", device_count(), " devices"));
    if (params.accessDescCount > 0) require_pointer(params.accessDescs, "accessDescs");
    for (std::size_t i = 0; i < params.accessDescCount; ++i) {
        const cudaMemAccessDesc& access = params.accessDescs[i];
        require(number_in(access.location.type) == cudaMemLocationTypeDevice,
                text("access descriptor ", i, " is of no device"));
        require_device(access.location.id);
        require(number_in(access.flags) == cudaMemAccessFlagsProtReadWrite,
                text("access descriptor ", i, " does not ask for reading and writing"));
    }
}

/// A graph that belongs to a child graph node.
void refuse_in_child(const Graph& target) {
    if (target.owner())
        fail(cudaErrorNotSupported, "a graph that belongs to a node can get no more alloc and free nodes");
}

/// Memory that the graph has freed before whatever comes after `before`, and that none of its allocations uses since.
GraphMemoryPointer find_freed(const std::vector<Node*>& before, int device, std::size_t bytes) {
    GraphMemoryPointer best;
    std::vector<const Node*> open(before.begin(), before.end());
    std::unordered_set<const Node*> seen(open.begin(), open.end());
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        for (const Node* dependency : node.dependencies)
            if (seen.insert(dependency).second) open.push_back(dependency);
        if (node.work->type() != cudaGraphNodeTypeMemFree) continue;
        const auto& freed = static_cast<const FreeWork&>(*node.work).allocation();
        const GraphMemoryPointer& memory = freed->memory;
        const bool own = std::ranges::any_of(node.graph.nodes(), [&](const auto& other) {
            return other->work->type() == cudaGraphNodeTypeMemAlloc &&
                   static_cast<const AllocWork&>(*other->work).allocation() == freed;
        });
        const bool fits = memory->device() == device && memory->bytes() >= bytes;
        if (own && fits && find_graph_allocation(memory->address()) == freed &&
            (!best || memory->bytes() < best->bytes()))
            best = memory;
    }
    return best;
}

} // namespace

std::string MemoryNodeWork::refuse_clone() const {
    return text("Graphs with ", type_name(type()), " nodes cannot be cloned");
}

std::string MemoryNodeWork::refuse_as_child(ChildOwnership ownership) const {
    return ownership == ChildOwnership::move
               ? ""
               : text("A graph with ", type_name(type()), " nodes can only be moved into a node");
}

std::optional<Refusal> MemoryNodeWork::refuse_node_update(const Work&) const {
    return Refusal{cudaGraphExecUpdateErrorNotSupported, "alloc and free nodes cannot be updated"};
}

AllocWork::AllocWork(const cudaMemAllocNodeParams& params, GraphAllocationPointer allocation)
    : MemoryNodeWork(std::move(allocation)), params_(params),
      access_(params.accessDescs, params.accessDescs + params.accessDescCount) {
    params_.dptr = address();
}

cudaMemAllocNodeParams AllocWork::params() const noexcept {
    cudaMemAllocNodeParams params = params_;
    params.accessDescs = access_.empty() ? nullptr : access_.data();
    return params;
}

std::string AllocWork::title() const {
    return text("alloc ", params_.bytesize, " B");
}

std::string AllocWork::details() const {
    return text(title(), " at ", address(), " on device ", params_.poolProps.location.id);
}

void AllocWork::run() const {
    allocation()->memory->fill(fresh_byte);
}

std::optional<Refusal> AllocWork::refuse_graph_update(const Work& next, bool) const {
    const auto& other = static_cast<const AllocWork&>(next);
    if (other.params_.bytesize != params_.bytesize)
        return Refusal{cudaGraphExecUpdateErrorParametersChanged, "the size of an allocation cannot change"};
    return std::nullopt;
}

FreeWork::FreeWork(GraphAllocationPointer freed) : MemoryNodeWork(std::move(freed)) {
    allocation()->has_free_node = true;
}

FreeWork::~FreeWork() {
    allocation()->has_free_node = false;
}

std::string FreeWork::details() const {
    return text("free ", address());
}

void FreeWork::run() const {
    allocation()->memory->fill(freed_byte);
}

std::shared_ptr<AllocWork> make_alloc_work(const cudaMemAllocNodeParams& params, const Graph& target,
                                           const std::vector<Node*>& before) {
    validate(params);
    refuse_in_child(target);
    const int device = params.poolProps.location.id;
    GraphMemoryPointer memory = find_freed(before, device, params.bytesize);
    if (!memory) memory = std::make_shared<GraphMemory>(device, params.bytesize);
    const auto allocation = std::make_shared<GraphAllocation>(std::move(memory), params.bytesize);
    register_allocation(allocation);
    return std::make_shared<AllocWork>(params, allocation);
}

std::shared_ptr<FreeWork> make_free_work(const void* address, const Graph& target) {
    refuse_in_child(target);
    GraphAllocationPointer allocation = find_graph_allocation(address);
    if (!allocation) fail(cudaErrorInvalidValue, text(address, " is no address that an alloc node returned"));
    if (allocation->has_free_node) fail(cudaErrorInvalidValue, text(address, " already has a free node"));
    return std::make_shared<FreeWork>(std::move(allocation));
}

} // namespace cudart_cpu::detail
