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
    bool signals; ///< else it waits
    std::uint32_t count;
    SemaphoreOperation* operations;

    [[nodiscard]] std::span<const SemaphoreOperation> list() const noexcept { return {operations, count}; }
};

/// What is wrong if there are no operations, or a semaphore is null; empty if nothing is.
[[nodiscard]] std::string problem_of(const SemaphoreParams& semaphores);
/// Why no update can give `next` to a node that has `current`; empty if it can.
[[nodiscard]] std::string problem_in_update(const SemaphoreParams& current, const SemaphoreParams& next);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SemaphoreParams& semaphores);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const SemaphoreParams& semaphores);
[[nodiscard]] SemaphoreParams read_semaphores(cudaGraphNode_t node, bool signals, std::pmr::memory_resource& memory);

/// In a copy, the operations stand behind the block.
[[nodiscard]] std::size_t trailing_bytes(const SemaphoreParams& semaphores) noexcept;
void copy_trailing(const SemaphoreParams& from, SemaphoreParams& copy, std::byte* place) noexcept;
/// Of the same node: updates keep the number.
void assign(SemaphoreParams& copy, const SemaphoreParams& from) noexcept;

void compare(const SemaphoreParams& before, const SemaphoreParams& after, Fields& fields);

} // namespace cudag::detail
