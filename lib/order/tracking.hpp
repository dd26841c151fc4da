// Tracking: whether all memory accesses of a node are known, and why not.
#pragma once

#include "graph/node_place.hpp"

#include <cudag/access.hpp>
#include <cudag/relax.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace cudag::detail {

/// The reason for unknown accesses, with the node and its argument.
struct Untracked {
    StayReason reason;
    NodePlace inside;
    MemoryArgument argument = whole_node;
};

/// Nothing if all effects of the node are known: its memory accesses, by its kind, its arguments, or `.reads` and
/// `.writes`; and it has no other visible effects. Throws GraphError.
[[nodiscard]] std::optional<Untracked> why_untracked(const GraphState& graph, std::uint32_t index);

/// Whether the node declares the memory of this argument: with the argument itself, or by `.reads` or `.writes`, which
/// declare all memory that the node uses.
[[nodiscard]] bool declares_argument(const GraphState& graph, std::uint32_t index, MemoryArgument argument);
/// Describes an unknown access with its remedy: "argument 1 may be an address, ..." With `whole_node`, all of a node.
[[nodiscard]] std::string describe_untracked(MemoryArgument argument);

/// Whether the node, or one inside it, has an effect beyond memory accesses, so that its place in the program matters:
/// it orders work outside the graph, or kernels may change its work.
[[nodiscard]] bool keeps_place(const GraphState& graph, std::uint32_t index);

} // namespace cudag::detail
