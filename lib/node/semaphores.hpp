// Nodes that signal external semaphores, or wait for them.
#pragma once

#include "native_result.hpp"

#include <cudag/detail/semaphore_operand.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>

namespace cudag::detail {

class Fields;

struct SemaphoreParams {
    bool signals; ///< false: the node waits
    std::uint32_t count;
    SemaphoreOperation* operations;

    [[nodiscard]] std::span<const SemaphoreOperation> list() const noexcept { return {operations, count}; }
};

/// The problem if there are no operations, or a semaphore is null; empty if there is none.
[[nodiscard]] std::string problem_of(const SemaphoreParams& semaphores);
/// The reason why no update can change a node from `current` to `next`; empty if it can.
[[nodiscard]] std::string problem_in_update(const SemaphoreParams& current, const SemaphoreParams& next);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SemaphoreParams& semaphores);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const SemaphoreParams& semaphores);
[[nodiscard]] SemaphoreParams read_semaphores(cudaGraphNode_t node, bool signals, std::pmr::memory_resource& memory);

/// In a copy, the operations follow the block.
[[nodiscard]] std::size_t trailing_bytes(const SemaphoreParams& semaphores) noexcept;
void copy_trailing(const SemaphoreParams& from, SemaphoreParams& copy, std::byte* place) noexcept;
/// Assigns operations of the same node: updates keep their number.
void assign(SemaphoreParams& copy, const SemaphoreParams& from) noexcept;

void compare(const SemaphoreParams& before, const SemaphoreParams& after, Fields& fields);

} // namespace cudag::detail
