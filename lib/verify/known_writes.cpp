// Known accesses, and the writers of bytes.
#include "known_writes.hpp"

#include "edges/edge_groups.hpp"
#include "edges/topological_order.hpp"
#include "graph/allocations.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/in_force.hpp"
#include "graph_steps.hpp"
#include "order/node_accesses.hpp"

#include <cudag/detail/private_access.hpp>
#include <cudag/race.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

namespace cudag::detail {

namespace {

constexpr std::uintptr_t first_of_no_program = std::uintptr_t{1} << 62U; // conditions and arrays: see lib/order

std::vector<std::uint32_t> order_of(const GraphState& graph) {
    const std::size_t nodes = records_of(graph).nodes().size();
    const std::vector<EdgeRecord>& edges = edges_of(graph);
    if (!are_forward(edges)) return topological_order(edges, EdgeGroups(nodes, edges, &EdgeRecord::from));
    std::vector<std::uint32_t> order(nodes);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

/// Returns the given range that a raw pointer refers to.
const VerifiedRange* range_of(const UntrackedArgument& untracked, const VerifyOptions& options) {
    if (untracked.argument == whole_node) return nullptr;
    const auto values = untracked.node.kernel_info().arguments;
    if (untracked.argument >= values.size() || values[untracked.argument].size() != sizeof(std::uintptr_t))
        return nullptr;
    std::uintptr_t address = 0;
    std::memcpy(&address, values[untracked.argument].data(), sizeof address);
    for (const VerifiedRange& range : options.memory)
        if (address - range.begin() < range.bytes()) return &range;
    return nullptr;
}

void add_untracked(KnownAccesses& known, const Graph& graph, const VerifyOptions& options) {
    const std::vector<SteppedNode> nodes = stepped_nodes(graph);
    for (const UntrackedArgument& each : graph.untracked()) {
        const VerifiedRange* const range = range_of(each, options);
        const auto found =
            std::find_if(nodes.begin(), nodes.end(), [&](const SteppedNode& node) { return node.node == each.node; });
        if (range != nullptr && found != nodes.end())
            known.all.push_back({found->outer,
                                 each.node,
                                 each.argument,
                                 true,
                                 range->element_bytes(),
                                 {range->begin(), range->bytes()}});
        else
            known.unverified.push_back(to_string(each));
    }
}

} // namespace

std::vector<ByteRange> KnownAccesses::written(const VerifyOptions& options) const {
    std::vector<ByteRange> ranges;
    for (const KnownAccess& access : all)
        if (access.writes) ranges.push_back({access.block.begin, access.block.end()});
    for (const VerifiedRange& range : options.memory)
        ranges.push_back({range.begin(), range.begin() + range.bytes()});
    return ranges;
}

KnownAccesses known_accesses(const Graph& graph, const VerifyOptions& options) {
    KnownAccesses known;
    add_untracked(known, graph, options); // reads a captured graph
    const GraphState& state = Access::state(graph);
    const auto lock = lock_of(state);
    known.order = order_of(state);
    const auto is_graph_memory = [&](const MemoryBlock& block) {
        const auto& memory = records_of(state).allocations().list();
        return std::any_of(memory.begin(), memory.end(), [&](const GraphAllocation& each) {
            return each.overlaps(block.begin, block.end() - block.begin);
        });
    };
    ArrayAddresses arrays;
    for (const NodeAccess& access : accesses_of(state, graph_in_force, arrays)) {
        const Node inside = identity_of(*access.place.graph).handle(access.place.index);
        const bool writes = access.mode != AccessMode::read;
        if (is_condition_cell(access.block) || access.block.is_empty() || is_graph_memory(access.block)) continue;
        if (access.block.begin < first_of_no_program)
            known.all.push_back({access.node, inside, access.argument, writes, access.element_bytes, access.block});
        else if (writes)
            known.unverified.push_back(access.place.describe() + ": it writes a CUDA array, which is not compared");
    }
    return known;
}

WrittenPart part_of(const std::vector<ByteRange>& ranges, const MemoryBlock& block) {
    WrittenPart part;
    const auto cut = [&](const ByteRange& range, std::uintptr_t begin, std::uintptr_t end) {
        const ByteRange common{std::max(range.begin, begin), std::min(range.end, end)};
        if (common.begin < common.end) part.written.push_back(common);
    };
    for (const ByteRange& range : ranges)
        for (std::size_t slice = 0; slice < block.slices; ++slice)
            for (std::size_t row = 0; row < block.rows; ++row) {
                const std::uintptr_t begin = block.begin + slice * block.slice_pitch + row * block.pitch;
                cut(range, begin, begin + block.row_bytes);
            }
    part.written = joined(std::move(part.written));
    for (const ByteRange& range : ranges) {
        std::uintptr_t at = range.begin;
        for (const ByteRange& taken : part.written) {
            if (taken.end <= at || taken.begin >= range.end) continue;
            if (taken.begin > at) part.rest.push_back({at, taken.begin});
            at = taken.end;
        }
        if (at < range.end) part.rest.push_back({at, range.end});
    }
    return part;
}

} // namespace cudag::detail
