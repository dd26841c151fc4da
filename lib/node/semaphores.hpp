// Nodes that signal external semaphores, or wait for them.
#pragma once

#include "fields.hpp"
#include "lists/hash.hpp"
#include "native_result.hpp"
#include "operation_list.hpp"

#include <cudag/detail/semaphore_operand.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>

namespace cudag::detail {

class Differences;

struct SemaphoreParams {
    bool signals; ///< false: the node waits
    std::uint32_t count;
    SemaphoreOperation* operations;

    [[nodiscard]] std::span<const SemaphoreOperation> list() const noexcept { return {operations, count}; }
};

/// The problem if there are no operations, or a semaphore is null; empty if there is none.
[[nodiscard]] std::string problem_of(const SemaphoreParams& semaphores);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SemaphoreParams& semaphores);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const SemaphoreParams& semaphores);
[[nodiscard]] SemaphoreParams read_semaphores(cudaGraphNode_t node, bool signals, std::pmr::memory_resource& memory);

template <class Visitor>
constexpr void fields(const SemaphoreOperation&, Visitor& visit) {
    visit.field("semaphore", member<&SemaphoreOperation::semaphore>, changeable);
    visit.field("value", member<&SemaphoreOperation::value>, changeable);
}

/// The operations of a node, one by one.
struct OperationFields {
    static void compare(const SemaphoreParams& before, const SemaphoreParams& after, Differences& found);
    static void add_to(Hash& hash, const SemaphoreParams& semaphores, HashedFields which) noexcept;
};

template <class Visitor>
constexpr void fields(const SemaphoreParams&, Visitor& visit) {
    visit.field("number of semaphores", member<&SemaphoreParams::count>,
                FieldRule{ChangedBy::new_node, "the node has {} semaphores, the update {}; CUDA fixes the number"});
    visit.part(OperationFields(), member<&SemaphoreParams::operations>);
    visit.ignored(member<&SemaphoreParams::signals>); // told by the node's kind
}

} // namespace cudag::detail
