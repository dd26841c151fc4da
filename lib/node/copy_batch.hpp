// Batches of copies in one node: CUDA 13.5.
#pragma once

#include "copy.hpp"
#include "cuda/compat.hpp"
#include "fields.hpp"
#include "lists/hash.hpp"
#include "native_result.hpp"
#include "operation_list.hpp"

#include <cudag/access.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>

namespace cudag::detail {

class Differences;

/// The source is read in order with the nodes before.
inline constexpr compat::CopyAttributes ordinary_copy{1, {}, {}, 0};

/// One copy of a batch. Its attributes are CUDA's: cudag gives all copies those of an ordinary copy.
struct CopyOfBatch {
    void* destination;
    const void* source;
    std::size_t bytes; ///< 0: no copy, CUDA's way to disable one
    std::uint32_t element_bytes = 1;
    bool begins_attributes = false; ///< CUDA lists the attributes anew; always for the first copy
    compat::CopyAttributes attributes = ordinary_copy;
};

struct CopyBatchParams {
    CUcontext context; ///< that performs the copies
    std::uint32_t count;
    CopyOfBatch* operations;

    [[nodiscard]] std::span<const CopyOfBatch> list() const noexcept { return {operations, count}; }
};

[[nodiscard]] inline CopyOfBatch copy_of_batch(const CopyParams& copy) noexcept {
    return {copy.destination, copy.source, bytes_of(copy), static_cast<std::uint32_t>(copy.element_bytes)};
}

/// The problem if there are no copies, or if one writes memory of another one; empty if there is none.
[[nodiscard]] std::string problem_of(const CopyBatchParams& params);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const CopyBatchParams& params);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const CopyBatchParams& params);
/// Throws GraphError. The list is in `memory`.
[[nodiscard]] CopyBatchParams read_copy_batch(cudaGraphNode_t node, std::pmr::memory_resource& memory);

template <class Visitor>
constexpr void fields(const CopyOfBatch&, Visitor& visit) {
    visit.field("destination", member<&CopyOfBatch::destination>, changeable);
    visit.field("source", member<&CopyOfBatch::source>, changeable);
    visit.field("bytes", member<&CopyOfBatch::bytes>, changeable);
    visit.field("attributes", member<&CopyOfBatch::attributes>, fixed());
    visit.field("list of attributes", member<&CopyOfBatch::begins_attributes>, fixed());
    visit.ignored(member<&CopyOfBatch::element_bytes>); // told by the bytes
}

/// The copies of a node, one by one, and their context.
struct BatchedCopies {
    static void compare(const CopyBatchParams& before, const CopyBatchParams& after, Differences& found);
    static void add_to(Hash& hash, const CopyBatchParams& params, HashedFields which) noexcept;
};

template <class Visitor>
constexpr void fields(const CopyBatchParams&, Visitor& visit) {
    visit.field("number of copies", member<&CopyBatchParams::count>,
                FieldRule{ChangedBy::new_node, "the node has {} copies, the update {}; CUDA fixes the number"});
    visit.part(BatchedCopies(), member<&CopyBatchParams::operations>, member<&CopyBatchParams::context>);
}
[[nodiscard]] std::string title(const CopyBatchParams& params);

/// Calls `use` with an ArgumentAccess for the destination, 2 i, and the source, 2 i + 1, of each copy i.
template <class Use>
void for_each_block(const CopyBatchParams& params, const Use& use) {
    for (std::uint32_t i = 0; i < params.count; ++i) {
        const CopyOfBatch& each = params.operations[i];
        use(ArgumentAccess{2 * i, AccessMode::write, each.element_bytes, block_at(each.destination, each.bytes)});
        use(ArgumentAccess{2 * i + 1, AccessMode::read, each.element_bytes, block_at(each.source, each.bytes)});
    }
}

} // namespace cudag::detail
