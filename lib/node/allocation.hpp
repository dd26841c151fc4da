// Alloc and free nodes of graph memory. GraphAllocations keeps their lifetimes; they read and write nothing.
#pragma once

#include "fields.hpp"
#include "native_result.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cudag::detail {

/// The parameters of an alloc node; CUDA fixes all of them at creation.
struct AllocParams {
    void* address;
    std::size_t bytes;
    int device;
};
struct FreeParams {
    void* address;
};

/// The description of a new alloc node.
struct NewAllocation {
    std::size_t bytes;
    std::size_t max_pool_bytes;
    int device;
    std::span<const CUmemAccessDesc> peers;
    std::span<const cudaGraphNode_t> after;
};

/// Adds the alloc node; `made` receives the parameters from CUDA.
[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const NewAllocation& wanted,
                                      AllocParams& made);
[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const FreeParams& free);
[[nodiscard]] inline NativeResult set_native(const NodeTarget&, const AllocParams&) noexcept {
    return cannot_be_set;
}
[[nodiscard]] inline NativeResult set_native(const NodeTarget&, const FreeParams&) noexcept {
    return cannot_be_set;
}
[[nodiscard]] AllocParams read_alloc(cudaGraphNode_t node);

/// What was asked of CUDA for an alloc node, beside its AllocParams.
struct AllocRequest {
    std::size_t max_pool_bytes;
    std::vector<int> peers; ///< devices with access; the device of the memory may be among them
};
/// Throws GraphError.
[[nodiscard]] AllocRequest read_request(cudaGraphNode_t node);
[[nodiscard]] FreeParams read_free(cudaGraphNode_t node);

/// The user does not choose addresses, and no two graphs have the same.
template <class Visitor>
constexpr void fields(const AllocParams&, Visitor& visit) {
    visit.unchosen(member<&AllocParams::address>);
    visit.field("bytes", member<&AllocParams::bytes>, FieldRule{ChangedBy::graph_update});
    visit.field("device", member<&AllocParams::device>, FieldRule{ChangedBy::new_node});
}
template <class Visitor>
constexpr void fields(const FreeParams&, Visitor& visit) {
    visit.unchosen(member<&FreeParams::address>);
}
[[nodiscard]] std::string title(const AllocParams& alloc);

} // namespace cudag::detail
