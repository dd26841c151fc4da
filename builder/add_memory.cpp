// Additions of nodes that allocate graph memory and free it.
#include "add_memory.hpp"

#include "add_node.hpp"
#include "graph/allocations.hpp"
#include "graph/check_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/names.hpp"
#include "require_allowed.hpp"

#include <cudag/detail/record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// The devices named by `options`, checked.
struct MemoryPlace {
    int device;
    std::vector<CUmemAccessDesc> peers;
};

template <class MakeSubject>
MemoryPlace place_of(const AllocOptions& options, const MakeSubject& subject) {
    MemoryPlace place{};
    if (options.device)
        place.device = *options.device;
    else
        checked<GraphError>(cudaGetDevice(&place.device), "cudaGetDevice");
    if (!options.device && options.peers.empty()) return place;

    int count = 0;
    checked<GraphError>(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    const auto require_device = [&](int device, const char* role) {
        if (device < 0 || device >= count)
            refuse(fmt::format("the {} is {}; there are {} devices, counted from 0", role, device, count), subject(),
                   cudaErrorInvalidDevice);
    };
    require_device(place.device, "device");
    for (const int peer : options.peers) {
        require_device(peer, "peer device");
        if (peer == place.device) continue; // it has access anyway
        int can = 0;
        checked<GraphError>(cudaDeviceCanAccessPeer(&can, peer, place.device), "cudaDeviceCanAccessPeer");
        if (can == 0)
            refuse(fmt::format("device {} cannot access memory of device {}; leave it out of the peers, or allocate "
                               "on another device",
                               peer, place.device),
                   subject(), cudaErrorPeerAccessUnsupported);
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = peer;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        place.peers.push_back(access);
    }
    return place;
}

/// Returns the nodes of `after`, each once.
std::vector<std::uint32_t> ancestors(const GraphState& graph, const std::vector<Node>& after) {
    std::vector<std::uint32_t> indices;
    for (const Node& node : after) {
        const std::uint32_t index = index_of(graph, node, "alloc");
        if (std::find(indices.begin(), indices.end(), index) == indices.end()) indices.push_back(index);
    }
    return indices;
}

/// Throws GraphError: `graph` frees the memory of `owner`'s node `alloc` again, after node `free` of `freeing`.
[[noreturn]] void refuse_second_free(const GraphState& graph, const GraphState& owner, std::uint32_t alloc,
                                     const GraphState& freeing, std::uint32_t free, const SourceLocation& where) {
    Subject subject = new_node_subject(NodeKind::free, where);
    subject.labels = {std::string(owner.records().nodes()[alloc].label),
                      std::string(freeing.records().nodes()[free].label)};
    refuse(fmt::format("the memory of {} is freed already by {}{}; free it once", describe_node(owner, alloc),
                       describe_node(freeing, free), &graph == &freeing ? "" : ", in another graph"),
           std::move(subject));
}

/// Returns the other graph with a free node for `memory`, if this node still exists; else null.
const GraphState* freeing_graph(const GraphAllocation& memory) {
    return memory.freed_elsewhere == Node() || !GraphIdentity::is_alive(memory.freed_elsewhere)
               ? nullptr
               : &GraphIdentity::of(memory.freed_elsewhere);
}

Node append_free(GraphState& graph, void* address, const SourceLocation& where) {
    return add_node(graph, NodeKind::free, FreeParams{address}, {}, where);
}

/// Frees memory that another graph allocates.
Node free_foreign(GraphState& graph, GraphState& owner, std::uint32_t alloc, const SourceLocation& where) {
    GraphAllocation& memory = owner.records().allocations().of_node(alloc);
    if (memory.free) refuse_second_free(graph, owner, alloc, owner, *memory.free, where);
    if (const GraphAllocation* known = graph.records().allocations().find_foreign(memory.address); known != nullptr)
        refuse_second_free(graph, owner, alloc, graph, *known->free, where);
    graph.records().allocations().reserve();
    const Node node = append_free(graph, reinterpret_cast<void*>(memory.address), where);
    graph.records().allocations().add(
        {memory.address, memory.bytes, std::nullopt, GraphIdentity::index_unchecked(node)});
    memory.freed_elsewhere = node;
    return node;
}

Node free_own(GraphState& graph, GraphAllocation& memory, const SourceLocation& where) {
    if (memory.free) refuse_second_free(graph, graph, *memory.alloc, graph, *memory.free, where);
    if (const GraphState* other = freeing_graph(memory); other != nullptr)
        refuse_second_free(graph, graph, *memory.alloc, *other, GraphIdentity::index_unchecked(memory.freed_elsewhere),
                           where);
    const Node node = append_free(graph, reinterpret_cast<void*>(memory.address), where);
    memory.free = GraphIdentity::index_unchecked(node);
    return node;
}

} // namespace

void require_unfreed(const GraphState& graph, const MemoryBlock& block, AccessMode mode, NodeKind kind,
                     const SourceLocation& where) {
    if (graph.tree().parent() != nullptr) require_unfreed(*graph.tree().parent(), block, mode, kind, where);
    const GraphAllocation* freed = graph.records().allocations().find(block.begin);
    if (freed == nullptr || !freed->free) return;
    Subject subject = new_node_subject(kind, where);
    subject.labels = {std::string(graph.records().nodes()[*freed->alloc].label),
                      std::string(graph.records().nodes()[*freed->free].label)};
    refuse(fmt::format("the {} is memory of {}, which CUDA no longer gives to copies and fills once {} is made; call "
                       "free() after this",
                       mode == AccessMode::write ? "destination" : "source", describe_node(graph, *freed->alloc),
                       describe_node(graph, *freed->free)),
           std::move(subject));
}

Allocation allocation_of(const Node& alloc) {
    const GraphState& graph = GraphIdentity::of(alloc);
    const auto* params =
        std::get<const AllocParams*>(graph.records().nodes()[GraphIdentity::index_unchecked(alloc)].params);
    return {params->address, params->bytes, params->device};
}

void* freed_by(const Node& free) {
    const GraphState& graph = GraphIdentity::of(free);
    return std::get<const FreeParams*>(graph.records().nodes()[GraphIdentity::index_unchecked(free)].params)->address;
}

Node add_alloc(GraphState& graph, std::size_t count, std::size_t element_bytes, const AllocOptions& options,
               const SourceLocation& where) {
    require_allowed(graph, NodeKind::alloc, where);
    const auto subject = [&] { return new_node_subject(NodeKind::alloc, where); };
    if (count == 0) refuse("an allocation of 0 elements; leave it out", subject());
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, element_bytes, &bytes))
        refuse(fmt::format("{} elements of {} bytes are more than an address can reach", count, element_bytes),
               subject());
    const MemoryPlace place = place_of(options, subject);
    const std::vector<std::uint32_t> from = ancestors(graph, options.after);
    if (!from.empty()) {
        settle_edges(graph, "alloc");
        graph.edge_lists().write_needed(graph.native(),
                                        graph.records().natives()); // CUDA seeks memory to reuse along them
    }
    graph.reserve_node();
    graph.edge_lists().reserve_native(from.size());
    graph.records().allocations().reserve();
    auto* params = graph.records().memory().allocate<AllocParams>(1);

    std::vector<cudaGraphNode_t> natives;
    for (const std::uint32_t index : from)
        natives.push_back(graph.records().natives()[index]);
    cudaGraphNode_t node = nullptr;
    const NewAllocation wanted{bytes, options.max_pool_bytes, place.device, place.peers, natives};
    AllocParams made{};
    if (const NativeResult added = add_native(node, graph.native(), wanted, made); added.status != cudaSuccess) {
        graph.records().special().memory = true; // CUDA then treats the graph as one with memory nodes (driver 580)
        Subject failed = subject();
        failed.text += fmt::format(": {} bytes on device {}", bytes, place.device);
        raise_call<GraphError>(added.status, added.operation, std::move(failed));
    }
    new (params) AllocParams(made);
    const Node alloc = graph.append(node, {NodeKind::alloc, params, {}, where});
    const std::uint32_t index = GraphIdentity::index_unchecked(alloc);
    for (const std::uint32_t before : from)
        graph.edge_lists().add_native(before, index);
    graph.records().allocations().add({reinterpret_cast<std::uintptr_t>(made.address), made.bytes, index});
    return alloc;
}

Node add_free(GraphState& graph, const Node& alloc, const SourceLocation& where) {
    require_allowed(graph, NodeKind::free, where);
    GraphState& owner = GraphIdentity::of(alloc);
    const std::uint32_t index = GraphIdentity::index_unchecked(alloc);
    if (&owner != &graph) return free_foreign(graph, owner, index, where);
    return free_own(graph, graph.records().allocations().of_node(index), where);
}

Node add_free(GraphState& graph, const Allocation& range, const SourceLocation& where) {
    require_allowed(graph, NodeKind::free, where);
    const auto subject = [&] { return new_node_subject(NodeKind::free, where); };
    if (range.bytes == 0) refuse("a span of 0 elements; free what alloc() returned", subject());
    const auto begin = reinterpret_cast<std::uintptr_t>(range.address);
    const GraphAllocation* found = graph.records().allocations().find(begin);
    if (found == nullptr)
        refuse(fmt::format("no alloc node of this graph has memory at {}; free what alloc() returned, by its handle if "
                           "it is another graph's",
                           range.address),
               subject());
    if (begin != found->address || range.bytes != found->bytes) {
        Subject wrong = subject();
        wrong.labels.emplace_back(graph.records().nodes()[*found->alloc].label);
        refuse(fmt::format("the span is {} bytes from byte {} of the {} bytes of {}; memory is freed as a whole",
                           range.bytes, begin - found->address, found->bytes, describe_node(graph, *found->alloc)),
               std::move(wrong));
    }
    return free_own(graph, graph.records().allocations().own(*found), where);
}

} // namespace cudag::detail
