// Nodes of memory operations: waits for values in memory, and writes of values.
#pragma once

#include "fields.hpp"
#include "lists/hash.hpp"
#include "native_result.hpp"
#include "operation_list.hpp"

#include <cudag/access.hpp>
#include <cudag/memory_operation.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>

namespace cudag::detail {

class Differences;

struct MemoryOperationParams {
    CUcontext context; ///< the context that runs the operations
    std::uint32_t count;
    MemoryOperation* operations;

    [[nodiscard]] std::span<const MemoryOperation> list() const noexcept { return {operations, count}; }
};

/// The problem if there are no operations or too many, or if CUDA cannot perform one; empty if there is none.
[[nodiscard]] std::string problem_of(const MemoryOperationParams& params);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const MemoryOperationParams& params);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const MemoryOperationParams& params);
/// Nothing if the driver does not describe such nodes, or uses operations that cudag does not know. Throws GraphError.
[[nodiscard]] std::optional<MemoryOperationParams> read_memory_operations(cudaGraphNode_t node,
                                                                          std::pmr::memory_resource& memory);

[[nodiscard]] std::string_view to_string(MemoryOperationKind kind) noexcept;
[[nodiscard]] std::string_view to_string(Compare compare) noexcept;

template <class Visitor>
constexpr void fields(const MemoryOperation&, Visitor& visit) {
    visit.field("operation", member<&MemoryOperation::kind>,
                fixed("the operation is a {}, the update's a {}; CUDA fixes the operations when the graph is "
                      "instantiated"));
    visit.field("bytes", member<&MemoryOperation::bytes>,
                fixed("the value has {} bytes, the update's {}; CUDA fixes this when the graph is instantiated"));
    visit.field("address", member<&MemoryOperation::address>, changeable);
    visit.field("value", member<&MemoryOperation::value>, changeable);
    visit.field("compare", member<&MemoryOperation::compare>, changeable);
    visit.field("flags", member<&MemoryOperation::flags>,
                fixed("the flags are {}, the update's {}; CUDA fixes them when the graph is instantiated"));
}

/// The operations of a node, one by one, and their context.
struct MemoryOperationFields {
    static void compare(const MemoryOperationParams& before, const MemoryOperationParams& after, Differences& found);
    static std::string refusal(const MemoryOperationParams& current, const MemoryOperationParams& next);
    static void add_to(Hash& hash, const MemoryOperationParams& params, HashedFields which) noexcept;
};

template <class Visitor>
constexpr void fields(const MemoryOperationParams&, Visitor& visit) {
    visit.field(
        "number of operations", member<&MemoryOperationParams::count>,
        FieldRule{ChangedBy::new_node, "the node has {} memory operations, the update {}; CUDA fixes the number"});
    visit.part(MemoryOperationFields(), member<&MemoryOperationParams::operations>,
               member<&MemoryOperationParams::context>);
}
[[nodiscard]] std::string title(const MemoryOperationParams& params);

/// All operations are atomic accesses: those of two nodes, and of kernels with `atomic`, do not race.
template <class Use>
void for_each_block(const MemoryOperationParams& params, const Use& use) {
    for (std::uint32_t i = 0; i < params.count; ++i)
        if (const MemoryOperation& each = params.operations[i]; each.bytes != 0)
            use(ArgumentAccess{i, AccessMode::atomic, each.bytes, block_at(each.address, each.bytes)});
}

} // namespace cudag::detail
