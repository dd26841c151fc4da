// The memory of graphs and Execs: owners by their deleters, host memory by the copies that use it.
#include "footprint_sum.hpp"

#include "edges/branches.hpp"
#include "exec/cache_content.hpp"
#include "exec/exec_bytes.hpp"
#include "exec/exec_in_force.hpp"
#include "exec/exec_turns.hpp"
#include "graph/allocations.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_owners.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_state.hpp"
#include "graph/graph_tree.hpp"
#include "graph/node_place.hpp"
#include "graph/planning.hpp"
#include "handles/host_memory.hpp"
#include "memory/held_blocks.hpp"
#include "memory/pool_state.hpp"
#include "node/kernel.hpp"
#include "owners/pool_numbers.hpp"

#include <cudag/detail/host_copy_release.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

namespace cudag::detail {

/// Ranges of addresses, in order and disjoint.
class FootprintSum::Ranges {
  public:
    explicit Ranges(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
        std::ranges::sort(ranges_, {}, &Range::begin);
        std::size_t count = 0;
        for (const Range& range : ranges_)
            if (count != 0 && range.begin <= ranges_[count - 1].end)
                ranges_[count - 1].end = std::max(ranges_[count - 1].end, range.end);
            else
                ranges_[count++] = range;
        ranges_.resize(count);
    }

    [[nodiscard]] std::size_t bytes() const noexcept {
        std::size_t sum = 0;
        for (const Range& range : ranges_)
            sum += range.end - range.begin;
        return sum;
    }

  private:
    std::vector<Range> ranges_;
};

void FootprintSum::add_owner(const std::shared_ptr<const void>& owner) {
    if (!owners_.insert(owner.get()).second) return;
    if (const auto* block = std::get_deleter<PoolBlockRelease>(owner)) {
        pools_.emplace(block->pool.get(), block->pool);
    } else if (const auto* buffer = std::get_deleter<BufferRelease>(owner)) {
        const auto address = reinterpret_cast<std::uintptr_t>(owner.get());
        if (buffer->is_host)
            kept_.push_back({address, address + buffer->holder->bytes()});
        else
            sum_.buffers += buffer->holder->bytes();
    } else if (const auto* copy = std::get_deleter<HostCopyRelease>(owner)) {
        const auto address = reinterpret_cast<std::uintptr_t>(copy->data);
        kept_.push_back({address, address + copy->bytes});
    } else if (pool_among(std::span(&owner, 1)) != 0) {
        const auto pool = std::static_pointer_cast<const PoolState>(owner);
        pools_.emplace(pool.get(), pool);
    }
}

void FootprintSum::add_owners(const GraphOwners& owners) {
    owners.for_each([&](const std::shared_ptr<const void>& owner) { add_owner(owner); });
}

/// Adds what the nodes of `graph` use, with the parameters `params(place)`.
template <class Params>
void FootprintSum::add_tree(const GraphState& graph, const Params& params) {
    std::vector<Range> allocated;
    for_each_graph(graph, [&](const GraphState& each) {
        add_owners(owned_by(each));
        for (const GraphAllocation& memory : records_of(each).allocations().list()) {
            if (!memory.alloc) continue;
            sum_.graph_memory_requested += memory.bytes;
            allocated.push_back({memory.address, memory.address + memory.bytes});
        }
        const auto nodes = static_cast<std::uint32_t>(records_of(each).nodes().size());
        for (std::uint32_t i = 0; i < nodes; ++i) {
            const NodeParams& used = params(NodePlace{&each, i});
            if (const auto* const* kernel = std::get_if<const KernelParams*>(&used))
                sum_.parameters += (*kernel)->signature->bytes;
            for_each_host_side(used, [&](const HostSide& side, cudaMemoryType) {
                const auto address = reinterpret_cast<std::uintptr_t>(side.data);
                host_.push_back({address, address + side.extent});
            });
        }
    });
    sum_.graph_memory = std::max(sum_.graph_memory, Ranges(std::move(allocated)).bytes());
}

namespace {

/// The device memory of an exec of `graph` with these changes by a plan, estimated. A child graph continues the branch
/// of its node.
std::size_t bytes_of_exec(const GraphState& graph, const std::vector<PlannedGraph>& planned) {
    std::size_t branches = 0, nodes = 0;
    for_each_graph(graph, [&](const GraphState& each) {
        const auto& records = records_of(each).nodes();
        const auto form = std::ranges::find(planned, &each, &PlannedGraph::graph);
        const std::size_t added = form == planned.end() ? 0 : form->planned->kernels;
        const std::size_t own =
            count_branches(records.size() + added, form == planned.end() ? edges_of(each) : form->planned->edges);
        const bool is_child = each.tree().place() == Place::child;
        branches += is_child && own > 0 ? own - 1 : own;
        nodes +=
            added + static_cast<std::size_t>(std::ranges::count_if(records, [](const NodeRecord& node) {
                return node.kind != NodeKind::memset && node.kind != NodeKind::empty && node.kind != NodeKind::child;
            }));
    });
    return estimated_exec_bytes(branches, nodes);
}

} // namespace

void FootprintSum::add(const Graph& graph) {
    const GraphState& state = Access::state(graph);
    read_all(state);
    const auto lock = state.lock();
    add_tree(state,
             [](const NodePlace& node) -> const NodeParams& { return records_of(*node.graph).params(node.index); });
    sum_.executable += bytes_of_exec(state, {});
}

void FootprintSum::add(const Exec& exec) {
    ExecState& state = Access::state(exec);
    add(state);
    if (const auto& former = state.turns().former; former && former->exec) add(*former->exec);
}

void FootprintSum::add(const ExecState& state) {
    read_all(state.source());
    read_all(state.effective().basis());
    const GraphLocks locks(state.source(), state.effective().basis());
    add_tree(state.source(), [&](const NodePlace& node) -> const NodeParams& {
        if (const Shadow* const shadow = state.effective().find_shadow(node))
            for (const OwnerVersion& version : shadow->owners)
                for (const Owner& owner : version.owners)
                    add_owner(owner.object);
        return state.effective().of(node);
    });
    if (&state.effective().basis() != &state.source())
        for_each_graph(state.effective().basis(), [&](const GraphState& each) { add_owners(owned_by(each)); });
    sum_.executable += bytes_of_exec(state.source(), state.plan().graphs);
}

void FootprintSum::add(const CacheContent& content) {
    for (const Exec* const exec : content.execs)
        add(*exec);
    for (const Graph* const graph : content.graphs)
        add(*graph);
    for (const auto& owner : content.owners)
        add_owner(owner);
    sum_.buffers += content.buffers;
}

std::vector<std::shared_ptr<PoolState>> FootprintSum::pools() const {
    std::vector<std::shared_ptr<PoolState>> pools;
    for (const auto& [state, pool] : pools_)
        pools.push_back(std::const_pointer_cast<PoolState>(pool));
    std::ranges::sort(pools, {}, [](const auto& pool) { return pool->id(); });
    return pools;
}

Footprint FootprintSum::total() const {
    Footprint sum = sum_;
    for (const auto& [state, pool] : pools_)
        sum.pools.push_back(pool->footprint());
    std::ranges::sort(sum.pools, {}, &PoolFootprint::name);

    const auto is_owned = [&](const Range& range) {
        return owners_.contains(reinterpret_cast<const void*>(range.begin)) ||
               std::ranges::any_of(
                   kept_, [&](const Range& block) { return block.begin <= range.begin && range.end <= block.end; });
    };
    std::vector<Range> owned = kept_, all = host_;
    std::ranges::copy_if(host_, std::back_inserter(owned), is_owned);
    all.insert(all.end(), owned.begin(), owned.end());
    sum.host_owned = Ranges(std::move(owned)).bytes();
    sum.host_borrowed = Ranges(std::move(all)).bytes() - sum.host_owned;
    return sum;
}

} // namespace cudag::detail
