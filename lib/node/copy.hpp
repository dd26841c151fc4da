// Copies between ranges of memory.
#pragma once

#include "cuda/failure.hpp"
#include "fields.hpp"
#include "native_result.hpp"
#include "used_range.hpp"

#include <cudag/detail/operand.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cudag::detail {

/// "host to device", ...
[[nodiscard]] std::string_view direction(cudaMemcpyKind kind) noexcept;

[[nodiscard]] inline std::size_t bytes_of(const CopyParams& copy) noexcept {
    return copy.source_size * copy.element_bytes;
}

/// The number of elements.
[[nodiscard]] inline std::size_t elements_of(const CopyParams& copy) noexcept {
    return copy.source_size;
}
/// The same copy, of `count` elements.
[[nodiscard]] inline CopyParams with_elements(CopyParams copy, std::size_t count) noexcept {
    copy.destination_size = copy.source_size = count;
    return copy;
}

/// The problem if the sizes differ or are 0, or an operand is null; empty if there is none.
[[nodiscard]] std::string problem_of(const CopyParams& copy);
/// The reason why a body does not accept such a copy, and the remedy; null if it does. Throws GraphError if CUDA fails.
[[nodiscard]] const char* why_not_in_body(const CopyParams& copy);
inline constexpr const char* is_pageable_copy =
    "its host memory is not page-locked, as CUDA asks for there; use a PinnedBuffer";
/// Whether `memory` is host memory and not page-locked. Throws E if CUDA fails.
template <class E = GraphError>
[[nodiscard]] bool is_pageable(const void* memory) {
    cudaPointerAttributes attributes{};
    checked<E>(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
    return attributes.type == cudaMemoryTypeUnregistered;
}

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const CopyParams& copy);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const CopyParams& copy);
/// Throws UpdateError for a failed call.
[[noreturn]] void raise_copy_update(const NativeResult& result, Subject&& subject);
/// Converts a one-dimensional copy; nothing for others.
[[nodiscard]] std::optional<CopyParams> to_copy(const cudaMemcpy3DParms& native) noexcept;

template <class Visitor>
constexpr void fields(const CopyParams&, Visitor& visit) {
    visit.field("direction", member<&CopyParams::kind>,
                fixed("the direction is {}, the update is {}; CUDA fixes it when the graph is instantiated"));
    visit.field("destination", member<&CopyParams::destination>, changeable);
    visit.field("source", member<&CopyParams::source>, changeable);
    visit.field("bytes", bytes_of, changeable);
    visit.ignored(member<&CopyParams::destination_size>, member<&CopyParams::source_size>,
                  member<&CopyParams::element_bytes>); // told by the bytes
}
[[nodiscard]] std::string title(const CopyParams& copy);

/// Calls `use` with an ArgumentAccess for the destination, 0, and the source, 1.
template <class Use>
void for_each_block(const CopyParams& copy, const Use& use) {
    use(ArgumentAccess{0, AccessMode::write, copy.element_bytes, block_at(copy.destination, bytes_of(copy))});
    use(ArgumentAccess{1, AccessMode::read, copy.element_bytes, block_at(copy.source, bytes_of(copy))});
}

} // namespace cudag::detail
