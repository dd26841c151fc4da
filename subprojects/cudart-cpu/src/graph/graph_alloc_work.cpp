// Alloc and free nodes.
#include "graph_alloc_work.hpp"

#include "memory/allocations.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace cudart_cpu::detail {

namespace {

void require(bool condition, const std::string& otherwise, cudaError_t code = cudaErrorInvalidValue) {
    if (!condition) fail(code, otherwise);
}

bool is_device(int id) {
    return id >= 0 && static_cast<std::size_t>(id) < device_count();
}

void validate(const cudaMemPoolProps& props) {
    const int location = number_in(props.location.type);
    require(number_in(props.allocType) == cudaMemAllocationTypePinned,
            text("poolProps: Invalid allocation type (", number_in(props.allocType), ')'));
    require(location != cudaMemLocationTypeInvalid, "poolProps: Invalid location type (0)");
    require(location == cudaMemLocationTypeDevice, "Location 'type' must be CU_MEM_LOCATION_TYPE_DEVICE",
            cudaErrorNotSupported);
    require(is_device(props.location.id), text("poolProps: Invalid location id (", props.location.id, ')'));
    require(std::all_of(std::begin(props.reserved), std::end(props.reserved), [](auto byte) { return byte == 0; }),
            "poolProps: 'reserved' field is non-zero");
    require(number_in(props.handleTypes) == cudaMemHandleTypeNone, "handleTypes must be type NONE",
            cudaErrorNotSupported);
}

void validate(const cudaMemAccessDesc& access, std::size_t index) {
    const std::string who = text("accessDescs index ", index);
    if (number_in(access.location.type) == cudaMemLocationTypeDevice)
        require(is_device(access.location.id), text(who, ": Invalid location ID (", access.location.id, ')'),
                cudaErrorInvalidDevice);
    require(number_in(access.flags) == cudaMemAccessFlagsProtReadWrite,
            text(who, ": Flags cannot be PROT_NONE or PROT_READ"), cudaErrorNotSupported);
}

void validate(const cudaMemAllocNodeParams& params) {
    validate(params.poolProps);
    require(params.bytesize > 0, "bytesize must be non-zero");
    require(params.accessDescCount <= device_count(),
            text("accessDescCount (", params.accessDescCount, ") cannot exceed the number of devices (", device_count(),
                 ')'));
    if (params.accessDescCount > 0) require_pointer(params.accessDescs, "accessDescs");
    for (std::size_t i = 0; i < params.accessDescCount; ++i)
        validate(params.accessDescs[i], i);
}

/// Refuses a graph owned by a node. A capture into a conditional body still adds them, although no launch can run it
/// then.
void refuse_in_child(const Graph& target, bool by_capture) {
    const bool is_body = target.owner() && target.owner()->work->type() == cudaGraphNodeTypeConditional;
    if (target.owner() && !(by_capture && is_body))
        fail(cudaErrorNotSupported, "a graph that belongs to a node can get no more alloc and free nodes");
}

bool is_of(const GraphAllocation& allocation, const Graph& graph) {
    return allocation.graph.lock() == graph.life();
}

/// Finds the best memory freed by the nodes `before` or earlier ones, and not used by the graph's allocations since.
GraphMemoryPointer find_freed(const Graph& graph, const std::vector<Node*>& before, int device, std::size_t bytes) {
    const auto smallest = graph.freed_memory.lower_bound({device, bytes});
    if (smallest == graph.freed_memory.end() || smallest->first.first != device) return nullptr;
    GraphMemoryPointer best;
    std::vector<const Node*> open(before.begin(), before.end());
    std::unordered_set<const Node*> seen(open.begin(), open.end());
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        for (const Node* dependency : node.dependencies)
            if (seen.insert(dependency).second) open.push_back(dependency);
        if (node.work->type() != cudaGraphNodeTypeMemFree) continue;
        const GraphAllocationPointer& freed = static_cast<const FreeWork&>(*node.work).allocation();
        const GraphMemoryPointer& memory = freed->memory;
        const bool fits = memory->device() == device && memory->bytes() >= bytes;
        if (fits && is_of(*freed, graph) && find_graph_allocation(memory->address()) == freed &&
            (!best || memory->bytes() < best->bytes()))
            best = memory;
        if (best && best->bytes() == smallest->first.second) break; // nothing fits better
    }
    return best;
}

/// Whether the memory is allocated, or a launch may allocate it.
bool may_be_allocated(const GraphAllocation& allocation) {
    return !allocation.graph.expired() || !allocation.execs.empty() || allocation.memory->is_allocated();
}

/// Whether the graph frees an allocation of another graph.
bool frees(const Graph& graph, const GraphAllocation& allocation) {
    return std::ranges::any_of(allocation.freed_by, [&](const auto& other) { return other.lock() == graph.life(); });
}

} // namespace

std::string MemoryNodeWork::refuse_clone() const {
    return text("Graphs with ", type_name(type()), " nodes cannot be cloned");
}

std::string MemoryNodeWork::refuse_second_exec() const {
    return text("A graph with ", type_name(type()), " nodes can have one executable graph at a time");
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
    allocation()->memory->fill(fresh_byte_of(cudaMemoryTypeDevice));
}

void AllocWork::attach(const void* exec, bool) const {
    allocation()->execs.insert(exec);
}

void AllocWork::detach(const void* exec) const noexcept {
    allocation()->execs.erase(exec);
}

void FreeWork::added_to(const Graph& graph) const {
    if (is_of(*allocation(), graph)) {
        const GraphMemory& memory = *allocation()->memory;
        ++graph.freed_memory[{memory.device(), memory.bytes()}];
        allocation()->is_freed_by_graph = true;
    } else {
        allocation()->freed_by.push_back(graph.life());
        allocation()->may_be_freed_by_graph = false;
    }
}

std::string FreeWork::details() const {
    return text("free ", address());
}

void FreeWork::run() const {
    allocation()->memory->fill(freed_byte);
}

std::shared_ptr<AllocWork> make_alloc_work(const cudaMemAllocNodeParams& params, const Graph& target,
                                           const std::vector<Node*>& before, bool by_capture) {
    validate(params);
    refuse_in_child(target, by_capture);
    const int device = params.poolProps.location.id;
    GraphMemoryPointer memory = find_freed(target, before, device, params.bytesize);
    const bool reused = memory != nullptr;
    if (!reused) {
        try {
            memory = std::make_shared<GraphMemory>(device, params.bytesize);
        } catch (const Failure&) {
            target.note_want_of_memory();
            throw;
        }
    }
    const auto allocation = std::make_shared<GraphAllocation>();
    allocation->memory = std::move(memory);
    allocation->graph = target.life();
    auto work = std::make_shared<AllocWork>(params, allocation);
    register_allocation(allocation);
    if (reused) {
        const auto freed = target.freed_memory.find({device, allocation->memory->bytes()});
        if (--freed->second == 0) target.freed_memory.erase(freed);
    }
    return work;
}

std::shared_ptr<FreeWork> make_free_work(const void* address, const Graph& target, bool by_capture) {
    refuse_in_child(target, by_capture);
    GraphAllocationPointer allocation = find_graph_allocation(address);
    const bool active = allocation && !allocation->is_freed_by_graph && may_be_allocated(*allocation);
    require(active, text("Virtual address ", address, " does not refer to an active allocation"));
    require(!frees(target, *allocation), text("Address ", address, " is already freed in this graph"));
    require(!is_of(*allocation, target) || allocation->may_be_freed_by_graph,
            text("Address ", address,
                 " is either already freed in a separate graph or the allocation node was previously instantiated "
                 "without being freed in the same graph. It is no longer eligible to be freed in this graph"));
    return std::make_shared<FreeWork>(std::move(allocation));
}

void fix_allocations(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
        if (node->work->type() == cudaGraphNodeTypeMemAlloc)
            static_cast<const AllocWork&>(*node->work).allocation()->may_be_freed_by_graph = false;
        for (const auto& body : node->bodies)
            fix_allocations(*body);
    }
}

} // namespace cudart_cpu::detail
