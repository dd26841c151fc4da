// Additions of batches of copies.
#include "add_node.hpp"

#include "cuda/version.hpp"

#include <cudag/detail/record.hpp>

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// Removes the nodes from number `first` on.
void remove_from(GraphState& graph, std::size_t first, const SourceLocation& where) {
    std::vector<std::uint32_t> gone(graph.records().nodes().size() - first);
    std::iota(gone.begin(), gone.end(), static_cast<std::uint32_t>(first));
    if (!gone.empty()) graph.remove(gone, where);
}

/// Whether `graph` takes a batch as one node: CUDA names no such nodes among those that bodies take.
bool takes_copy_batch(const GraphState& graph) {
    return compat::has_copy_batches && !graph.tree().is_in_body() && cuda_version() >= since::copy_batches;
}

/// Adds one node for all copies.
Node add_copy_batch(GraphState& graph, const CopyBatchParams& params, std::vector<BatchedCopy>&& copies,
                    const SourceLocation& where) {
    Owners owners;
    for (std::uint32_t i = 0; i < params.count; ++i)
        for (Owner& owner : copies[i].owners) {
            owner.argument += 2 * i; // as the accesses are numbered
            owners.push_back(std::move(owner));
        }
    return add_node(graph, NodeKind::memcpy_batch, params, {.owners = std::move(owners)}, where);
}

} // namespace

std::vector<Node> add_copies(GraphState& graph, std::vector<BatchedCopy>&& copies, const SourceLocation& where) {
    require_allowed(graph, NodeKind::memcpy, where);
    const auto subject = [&] { return new_node_subject(NodeKind::memcpy, where); };
    if (copies.empty()) refuse("a batch of 0 copies; leave it out", subject());
    for (std::size_t i = 0; i < copies.size(); ++i)
        if (const std::string problem = problem_of(copies[i].params); !problem.empty())
            refuse(fmt::format("copy {} of {}: {}", i, copies.size(), problem), subject());
    for (const BatchedCopy& each : copies) {
        const NodeParams params(&each.params);
        for_each_block(params, [&](const ArgumentAccess& access) {
            require_unfreed(graph, access.block, access.mode, NodeKind::memcpy, where);
        });
        require_body_copy(graph, NodeKind::memcpy, params, where);
    }
    std::vector<CopyOfBatch> list;
    for (const BatchedCopy& each : copies)
        list.push_back(copy_of_batch(each.params));
    const CopyBatchParams batch{current_context(), static_cast<std::uint32_t>(list.size()), list.data()};
    require_sound(batch, subject);
    if (takes_copy_batch(graph)) return {add_copy_batch(graph, batch, std::move(copies), where)};
    const std::size_t first = graph.records().nodes().size();
    std::vector<Node> nodes;
    nodes.reserve(copies.size() + 1);
    try {
        for (BatchedCopy& each : copies)
            nodes.push_back(add_memcpy(graph, each.params, std::move(each.owners), where));
        nodes.push_back(add_join(graph, nodes.data(), nodes.size(), where));
    } catch (...) {
        remove_from(graph, first, where);
        throw;
    }
    return nodes;
}

} // namespace cudag::detail
