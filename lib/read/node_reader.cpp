// Parameters of nodes made without cudag.
#include "node_reader.hpp"

#include "cuda/driver.hpp"
#include "graph/allocations.hpp"
#include "graph/graph_records.hpp"
#include "node/rules.hpp"
#include "owners/host_call.hpp"

#include <optional>

namespace cudag::detail {

NodeReader::NodeReader(GraphState& graph, std::vector<GraphAllocation>& allocations)
    : graph_(graph), kernels_(records_of(graph).memory().resource()), allocations_(allocations) {
    bind_context();
}

NodeParams NodeReader::read(cudaGraphNode_t node, NodeKind kind, std::uint32_t index) {
    if (kind == NodeKind::kernel) return kernels_.read(node);
    const KindRules& rules = rules_of(kind);
    if (rules.read == nullptr) return std::monostate();
    const NodeParams params = rules.read(node, records_of(graph_).memory().resource());
    if (const auto* alloc = std::get_if<const AllocParams*>(&params)) note(**alloc, index);
    if (const auto* free = std::get_if<const FreeParams*>(&params)) note(**free, index);
    if (const auto* host = std::get_if<const HostParams*>(&params))
        if (is_host_task(**host))
            records_of(graph_).special().host_tasks = true; // in CUDA's clone of a graph of cudag's
    return params;
}

void NodeReader::note(const AllocParams& alloc, std::uint32_t index) {
    allocations_.push_back({reinterpret_cast<std::uintptr_t>(alloc.address), alloc.bytes, index});
}

void NodeReader::note(const FreeParams& free, std::uint32_t index) {
    const auto place = reinterpret_cast<std::uintptr_t>(free.address);
    auto& known = allocations_;
    for (; indexed_ < known.size(); ++indexed_)
        latest_[known[indexed_].address] = indexed_; // the former one there has been freed
    const auto memory = latest_.find(place);
    if (memory != latest_.end() && !known[memory->second].free)
        known[memory->second].free = index;
    else
        known.push_back({place, 1, std::nullopt, index});
}

} // namespace cudag::detail
