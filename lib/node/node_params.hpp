// The parameters of a node, by kind: immutable blocks shared by graphs, their clones and execs.
#pragma once

#include "allocation.hpp"
#include "conditional.hpp"
#include "copy.hpp"
#include "copy_3d.hpp"
#include "copy_batch.hpp"
#include "differences.hpp"
#include "event.hpp"
#include "fill.hpp"
#include "host.hpp"
#include "kernel.hpp"
#include "memory_operations.hpp"
#include "native_result.hpp"
#include "semaphores.hpp"

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cudag::detail {

/// Each block is trivially copyable except for the pointees of a kernel's `values` and of lists of operations. A copy
/// of several dimensions, or of an array, is in CUDA's description. Nodes not described by cudag have monostate: their
/// parameters stay with CUDA.
using NodeParams =
    std::variant<std::monostate, const KernelParams*, const CopyParams*, const cudaMemcpy3DParms*, const SetParams*,
                 const HostParams*, const EventParams*, const ConditionalParams*, const SemaphoreParams*,
                 const AllocParams*, const FreeParams*, const MemoryOperationParams*, const CopyBatchParams*>;

/// Whether an alternative of NodeParams is monostate.
template <class Block>
inline constexpr bool is_none = std::is_same_v<std::decay_t<Block>, std::monostate>;

// Operations for any kind, each implemented in the kind's own file.

/// Needs a context if the node is a kernel: see bind_context.
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const NodeParams& params);
/// Throws UpdateError for a failed call.
[[noreturn]] void raise_update(const NativeResult& result, const NodeParams& params, Subject&& subject);

/// The reason why no update can change a node from `current` to `next`, in a graph or an exec; empty if it can.
[[nodiscard]] std::string problem_in_update(const NodeParams& current, const NodeParams& next);
/// The reason why CUDA cannot update an exec's node from `current` to `next`; empty if it can, or reports the reason.
[[nodiscard]] std::string problem_in_exec(const NodeParams& current, const NodeParams& next);
/// The reason why a body does not accept a copy with these parameters, and the remedy; null if it does, or if they
/// describe no copy.
[[nodiscard]] const char* why_not_in_body(const NodeParams& params);

/// The differences: empty if the parameters are equal, or of kinds not described by cudag.
[[nodiscard]] std::vector<FieldDifference> diff_params(const NodeParams& before, const NodeParams& after,
                                                       const SameConditions& conditions = {});
/// Whether `diff_params` would be empty, without making texts.
[[nodiscard]] bool same_params(const NodeParams& before, const NodeParams& after,
                               const SameConditions& conditions = {});

/// A description of the node's work, in one line; empty if its kind is enough.
[[nodiscard]] std::string title(const NodeParams& params);

/// The number of elements of a one-dimensional copy or fill; 0 for other nodes.
[[nodiscard]] std::size_t elements_of(const NodeParams& params) noexcept;
/// Calls `use` with the same parameters, but `count` elements. Requires parameters with a number of elements.
template <class Use>
void use_with_elements(const NodeParams& params, std::size_t count, const Use& use) {
    const auto visit = [&](const auto& block) {
        if constexpr (requires { with_elements(*block, count); }) use(with_elements(*block, count));
    };
    std::visit(visit, params);
}

/// Calls `use` with an ArgumentAccess for each memory of a copy or a fill.
template <class Use>
void for_each_block(const NodeParams& params, const Use& use) {
    const auto visit = [&use](const auto& block) {
        if constexpr (requires { for_each_block(*block, use); }) for_each_block(*block, use);
    };
    std::visit(visit, params);
}

/// Calls `use` with each known UsedRange, including memory with only a known address.
template <class Use>
void for_each_access(const NodeParams& params, const Use& use) {
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
        for_each_access(**kernel, use);
    else
        for_each_block(params, [&use](const ArgumentAccess& access) { use(used_range_of(access.block)); });
}

} // namespace cudag::detail
