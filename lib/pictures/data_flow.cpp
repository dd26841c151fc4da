// The flow of data: a walk through a graph with the last writer of each address.
#include "data_flow.hpp"

#include "edges/program_order.hpp"
#include "edges/topological_order.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/in_force.hpp"
#include "order/node_accesses.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace cudag::detail {

namespace {

/// The last writers, as ranges of addresses that do not overlap.
class LastWriters {
  public:
    /// Calls `use(writer, bytes)` for each part of [begin, end) with a writer.
    template <class Use>
    void for_each(std::uintptr_t begin, std::uintptr_t end, const Use& use) const {
        for (auto range = first_from(begin); range != ranges_.end() && range->first < end; ++range)
            use(range->second.node, std::min(end, range->second.end) - std::max(begin, range->first));
    }
    void write(std::uintptr_t begin, std::uintptr_t end, std::uint32_t node) {
        for (auto range = first_from(begin); range != ranges_.end() && range->first < end;) {
            const auto [old_begin, old] = *range;
            range = ranges_.erase(range);
            if (old_begin < begin) ranges_.insert({old_begin, {begin, old.node}});
            if (end < old.end) ranges_.insert({end, old});
        }
        ranges_.insert({begin, {end, node}});
    }

  private:
    struct Range {
        std::uintptr_t end;
        std::uint32_t node;
    };
    [[nodiscard]] std::map<std::uintptr_t, Range>::const_iterator first_from(std::uintptr_t begin) const {
        auto range = ranges_.upper_bound(begin);
        if (range != ranges_.begin() && begin < std::prev(range)->second.end) --range;
        return range;
    }

    std::map<std::uintptr_t, Range> ranges_; ///< by their beginning
};

} // namespace

std::vector<DataFlow> data_flows(const GraphState& graph) {
    ArrayAddresses arrays;
    const std::vector<NodeAccess> accesses = accesses_of(graph, graph_in_force, arrays);
    const std::vector<std::uint32_t> place =
        places_in(program_order(records_of(graph).nodes().size(), edges_of(graph)));
    std::vector<std::uint32_t> order(accesses.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t access) { return place[accesses[access].node]; });

    LastWriters writers;
    std::vector<DataFlow> flows;
    const auto uses_before_writing = [&](const MemoryAccess& access) {
        const NodeKind kind = records_of(graph).nodes()[access.node].kind;
        return access.mode == AccessMode::read ||
               (kind != NodeKind::memcpy && kind != NodeKind::memset && kind != NodeKind::memcpy_batch);
    };
    for (auto first = order.begin(); first != order.end();) {
        const std::uint32_t node = accesses[*first].node;
        const auto last = std::find_if(first, order.end(), [&](auto access) { return accesses[access].node != node; });
        const std::size_t known = flows.size();
        for (auto each = first; each != last; ++each) {
            const MemoryAccess& access = accesses[*each];
            if (access.block.is_empty() || is_condition_cell(access.block) || !uses_before_writing(access)) continue;
            writers.for_each(access.block.begin, access.block.end(), [&](std::uint32_t writer, std::size_t bytes) {
                const auto same = std::find_if(flows.begin() + static_cast<std::ptrdiff_t>(known), flows.end(),
                                               [&](const DataFlow& flow) { return flow.from == writer; });
                if (same == flows.end())
                    flows.push_back({writer, node, bytes});
                else
                    same->bytes += bytes;
            });
        }
        for (auto each = first; each != last; ++each)
            if (const MemoryAccess& access = accesses[*each];
                access.mode != AccessMode::read && !access.block.is_empty() && !is_condition_cell(access.block))
                writers.write(access.block.begin, access.block.end(), node);
        first = last;
    }
    return flows;
}

} // namespace cudag::detail
