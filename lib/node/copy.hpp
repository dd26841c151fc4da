// Copies between ranges of memory.
#pragma once

#include "access.hpp"
#include "cuda/failure.hpp"
#include "native_result.hpp"

#include <cudag/detail/operand.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cudag::detail {

class Fields;

/// "host to device", ...
[[nodiscard]] std::string_view direction(cudaMemcpyKind kind) noexcept;

[[nodiscard]] inline std::size_t bytes_of(const CopyParams& copy) noexcept {
    return copy.source_size * copy.element_bytes;
}

/// What is wrong if the sizes differ or are 0, or an operand is null; empty if nothing is.
[[nodiscard]] std::string problem_of(const CopyParams& copy);
/// Why CUDA cannot give `next` to a node that has `current` in an exec; empty if it can, or says itself why not.
[[nodiscard]] std::string problem_in_exec(const CopyParams& current, const CopyParams& next);
/// Why a body takes no such copy, and what to do; null if it takes it. Throws GraphError if CUDA does not tell.
[[nodiscard]] const char* why_not_in_body(const CopyParams& copy);
inline constexpr const char* is_pageable_copy =
    "its host memory is not page-locked, as CUDA asks for there; use a PinnedBuffer";
/// Whether `memory` is the host's, and not page-locked. Throws E if CUDA does not tell.
template <class E = GraphError>
[[nodiscard]] bool is_pageable(const void* memory) {
    cudaPointerAttributes attributes{};
    checked<E>(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
    return attributes.type == cudaMemoryTypeUnregistered;
}

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const CopyParams& copy);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const CopyParams& copy);
/// Throws UpdateError for a call that has failed.
[[noreturn]] void raise_copy_update(const NativeResult& result, Subject&& subject);
/// The copy that `native` is, if it has one dimension.
[[nodiscard]] std::optional<CopyParams> to_copy(const cudaMemcpy3DParms& native) noexcept;

void compare(const CopyParams& before, const CopyParams& after, Fields& fields);
[[nodiscard]] std::string title(const CopyParams& copy);

/// `use(argument, mode, region, element_bytes)` for the destination, 0, and the source, 1.
template <class Use>
void for_each_region(const CopyParams& copy, const Use& use) {
    use(0, AccessMode::write, region_at(copy.destination, bytes_of(copy)), copy.element_bytes);
    use(1, AccessMode::read, region_at(copy.source, bytes_of(copy)), copy.element_bytes);
}

} // namespace cudag::detail
