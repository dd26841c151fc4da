// What a node does, by kind: immutable blocks that graphs share with their clones and execs.
#pragma once

#include "allocation.hpp"
#include "conditional.hpp"
#include "copy.hpp"
#include "copy_3d.hpp"
#include "event.hpp"
#include "fields.hpp"
#include "fill.hpp"
#include "host.hpp"
#include "kernel.hpp"
#include "native_result.hpp"
#include "semaphores.hpp"

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cudag::detail {

/// Each block is trivially copyable but for what a kernel's `values` and a list of semaphores point at. A copy of
/// several dimensions, or of an array, is described as CUDA does it. Parameters of nodes that cudag does not describe
/// stay with CUDA: monostate.
using NodeParams =
    std::variant<std::monostate, const KernelParams*, const CopyParams*, const cudaMemcpy3DParms*, const SetParams*,
                 const cudaHostNodeParams*, const EventParams*, const ConditionalParams*, const SemaphoreParams*,
                 const AllocParams*, const FreeParams*>;

/// Of an alternative of these: whether it is monostate.
template <class Block>
inline constexpr bool is_none = std::is_same_v<std::decay_t<Block>, std::monostate>;

// What each kind answers in its own file, for any of them.

/// Needs a context if the node is a kernel: see bind_context.
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const NodeParams& params);
/// Throws UpdateError for a call that has failed.
[[noreturn]] void raise_update(const NativeResult& result, const NodeParams& params, Subject&& subject);

/// Why no update can give `next` to a node that has `current`, in a graph or an exec; empty if it can.
[[nodiscard]] std::string problem_in_update(const NodeParams& current, const NodeParams& next);
/// Why CUDA cannot give `next` to a node that has `current` in an exec; empty if it can, or says itself why not.
[[nodiscard]] std::string problem_in_exec(const NodeParams& current, const NodeParams& next);
/// Why a body takes no copy with these parameters, and what to do; null if it takes it, or they are of no copy.
[[nodiscard]] const char* why_not_in_body(const NodeParams& params);

/// In what they differ: empty if they are equal, or of kinds that cudag does not describe.
[[nodiscard]] std::vector<FieldDifference> diff_params(const NodeParams& before, const NodeParams& after,
                                                       const SameConditions& conditions = {});
/// The same as an empty diff, without the texts.
[[nodiscard]] bool same_params(const NodeParams& before, const NodeParams& after,
                               const SameConditions& conditions = {});

/// What the node does, in one line; empty if that is its kind.
[[nodiscard]] std::string title(const NodeParams& params);

/// Calls `use(argument, mode, region, element_bytes)` for the memory of a copy or a fill.
template <class Use>
void for_each_region(const NodeParams& params, const Use& use) {
    const auto visit = [&use](const auto& block) {
        if constexpr (requires { for_each_region(*block, use); }) for_each_region(*block, use);
    };
    std::visit(visit, params);
}

/// Calls `use` with each Access that is known, also of memory of which only the address is.
template <class Use>
void for_each_access(const NodeParams& params, const Use& use) {
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
        for_each_access(**kernel, use);
    else
        for_each_region(params, [&use](std::uint32_t, AccessMode, const MemoryRegion& region, std::size_t) {
            use(access_of(region));
        });
}

} // namespace cudag::detail
