// The look at an Exec before its launch: declarations, and refusals for released memory.
#include "before_launch.hpp"

#include "exec_nodes.hpp"
#include "exec_state.hpp"
#include "launch_guards.hpp"
#include "watched_writes.hpp"

#include "cuda/failure.hpp"
#include "cuda/launch_looks.hpp"
#include "cuda/released_memory.hpp"
#include "graph/construction.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_owners.hpp"
#include "graph/graph_records.hpp"
#include "graph/names.hpp"
#include "graph/node_place.hpp"
#include "node/kernel.hpp"
#include "node/node_params.hpp"

#include <cudag/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

/// Whether an argument of the kernel is, or has in itself, an address in released memory.
bool takes_released(const KernelParams& kernel, const ReleasedPool& pool) noexcept {
    for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
        const Parameter& parameter = kernel.signature->parameters[i];
        constexpr std::size_t word = sizeof(std::uintptr_t);
        const std::size_t first = (parameter.offset + word - 1) / word * word;
        for (std::size_t at = first; at + word <= parameter.offset + parameter.size; at += word) {
            std::uintptr_t value = 0;
            std::memcpy(&value, kernel.values + at, word);
            if (pool.has(value)) return true;
        }
    }
    return false;
}

bool uses_released(const NodeParams& params, const ReleasedPool& pool) {
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&params)) return takes_released(**kernel, pool);
    bool is_used = false;
    for_each_block(params, [&](const ArgumentAccess& access) {
        is_used = is_used || pool.overlaps(access.block.begin, access.block.end() - access.block.begin);
    });
    return is_used;
}

bool is_kept(const std::shared_ptr<const void>& owner, const ReleasedPool& pool) noexcept {
    return owner.get() == pool.pool || pool.has(reinterpret_cast<std::uintptr_t>(owner.get()));
}

bool keep_released(const OwnerVersions& versions, const ReleasedPool& pool) noexcept {
    for (const OwnerVersion& version : versions)
        for (const Owner& owner : version.owners)
            if (is_kept(owner.object, pool)) return true;
    return false;
}

bool keeps_released(const GraphState& graph, const ReleasedPool& pool) {
    bool is_found = false;
    for_each_graph(graph, [&](const GraphState& each) {
        owned_by(each).for_each(
            [&](const std::shared_ptr<const void>& owner) { is_found = is_found || is_kept(owner, pool); });
    });
    return is_found;
}

/// Returns the use of released memory by `exec`: "kernel "scale" at a.cpp:12 uses", "it keeps"; nothing if there is
/// none.
std::optional<std::string> find_use(const ExecState& exec, const ReleasedPool& pool) {
    std::optional<std::string> use;
    for_each_graph(exec.source(), [&](const GraphState& graph) {
        const auto count = static_cast<std::uint32_t>(records_of(graph).nodes().size());
        for (std::uint32_t i = 0; i < count && !use; ++i) {
            const NodePlace node{&graph, i};
            const Shadow* const shadow = exec.effective().find_shadow(node);
            if (uses_released(exec.effective().of(node), pool) ||
                (shadow != nullptr && keep_released(shadow->owners, pool)))
                use = node.describe() + " uses";
        }
    });
    if (use) return use;
    if (keeps_released(exec.source(), pool) ||
        (&exec.effective().basis() != &exec.source() && keeps_released(exec.effective().basis(), pool)))
        return "the graph keeps";
    return std::nullopt;
}

/// The same of a graph without an Exec.
std::optional<std::string> find_use(const GraphState& root, const ReleasedPool& pool) {
    std::optional<std::string> use;
    for_each_graph(root, [&](const GraphState& graph) {
        const auto count = static_cast<std::uint32_t>(records_of(graph).nodes().size());
        for (std::uint32_t i = 0; i < count && !use; ++i)
            if (uses_released(records_of(graph).params(i), pool)) use = NodePlace{&graph, i}.describe() + " uses";
    });
    if (!use && keeps_released(root, pool)) use = "the graph keeps";
    return use;
}

/// Throws Error if `user`, an exec of `source` or `source` itself, uses memory of one of `pools`.
template <class User>
void require_none_of(const std::vector<std::shared_ptr<const ReleasedPool>>& pools, const User& user,
                     const GraphState& source) {
    for (const auto& pool : pools) {
        const std::optional<std::string> use = find_use(user, *pool);
        if (!use) continue;
        std::string label = construction_of(root_of(source)).name;
        refuse<Error>(fmt::format("{} the released memory of {}; call restore() of that pool before the launch, or "
                                  "restore_memory() of the cache that released it",
                                  *use, pool->name),
                      {"launch of an Exec of " + describe_graph(source), {std::move(label), pool->label}, {}},
                      cudaErrorNotReady);
    }
}

void require_no_released(const ExecState& exec) {
    const auto pools = released_pools();
    if (pools.empty()) return;
    read_all(exec.source());
    read_all(exec.effective().basis());
    const GraphLocks locks(exec.source(), exec.effective().basis());
    require_none_of(pools, exec, exec.source());
}

} // namespace

void require_no_released(const GraphState& graph) {
    const auto pools = released_pools();
    if (pools.empty()) return;
    read_all(graph);
    const auto lock = lock_of(graph);
    require_none_of(pools, graph, graph);
}

void look_before_launch(const ExecState& exec) {
    if (is_looked_for(LaunchLook::runtime)) {
        if (!can_writes_be_watched())
            look_before_launches(LaunchLook::runtime, false); // and never again
        else if (are_writes_watched())
            declare_writes(exec);
    }
    if (is_looked_for(LaunchLook::released)) require_no_released(exec);
    if (is_looked_for(LaunchLook::guarded)) guard_launch(exec); // last: it counts the launch
}

void look_after_failed_launch(const ExecState& exec) noexcept {
    if (is_looked_for(LaunchLook::guarded)) guard_failed_launch(exec);
}

} // namespace cudag::detail
