// Fills of memory.
#pragma once

#include "fields.hpp"
#include "native_result.hpp"
#include "used_range.hpp"

#include <cudag/detail/operand.hpp>

#include <span>
#include <string>

namespace cudag::detail {

/// The number of the user's elements; 0 for several rows.
[[nodiscard]] inline std::size_t elements_of(const SetParams& set) noexcept {
    return set.height == 1 ? set.size / set.parts : 0;
}
/// The same fill, of `count` of the user's elements in one row.
[[nodiscard]] inline SetParams with_elements(SetParams set, std::size_t count) noexcept {
    set.size = count * set.parts;
    return set;
}

/// The problem if the range is empty or null, or its pitch is too small or no multiple of an element; empty if there is
/// none.
[[nodiscard]] std::string problem_of(const SetParams& set);

/// The node runs in the current context, after `after`.
[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SetParams& set,
                                      std::span<const cudaGraphNode_t> after = {});
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const SetParams& set);
[[nodiscard]] SetParams read_set(cudaGraphNode_t node);

/// CUDA updates only address and value of a fill of several rows.
template <class Visitor>
constexpr void fields(const SetParams& set, Visitor& visit) {
    const auto unless_2d = [&set](const char* refusal) { return set.height == 1 ? changeable : fixed(refusal); };
    visit.field("destination", member<&SetParams::destination>, changeable);
    visit.field("rows", member<&SetParams::height>,
                fixed("the memset has {} rows, the update {}; CUDA fixes their number when the graph is instantiated"));
    visit.field("elements", member<&SetParams::size>,
                unless_2d("the width of the 2D memset is {}, the update's {}; CUDA updates address and value only"));
    if (set.height == 1)
        visit.ignored(member<&SetParams::pitch>);
    else
        visit.field("pitch", member<&SetParams::pitch>,
                    fixed("the pitch of the 2D memset is {}, the update's {}; CUDA updates address and value only"));
    visit.field(
        "bytes of an element", member<&SetParams::element_bytes>,
        unless_2d("the element size of the 2D memset is {}, the update's {}; CUDA updates address and value only"));
    visit.field("value", member<&SetParams::value>, changeable);
    visit.ignored(member<&SetParams::parts>); // for texts
}
[[nodiscard]] std::string title(const SetParams& set);

template <class Use>
void for_each_block(const SetParams& set, const Use& use) {
    MemoryBlock block = block_at(set.destination, set.size * set.element_bytes);
    block.rows = set.height;
    block.pitch = set.pitch;
    use(ArgumentAccess{0, AccessMode::write, set.element_bytes, block});
}

} // namespace cudag::detail
