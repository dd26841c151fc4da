// Of which nodes cudag knows what they do to memory.
#pragma once

#include "graph/node_place.hpp"

#include <cudag/access.hpp>
#include <cudag/relax.hpp>

#include <cstdint>
#include <optional>

namespace cudag::detail {

/// Why something is unknown, of which node, and of which of its arguments.
struct Untracked {
    StayReason reason;
    NodePlace inside;
    MemoryArgument argument = whole_node;
};

/// Nothing if all that the node does is known: to memory, as its kind, its arguments, or `.reads` and `.writes` say,
/// and nothing else that others would see. Throws GraphError.
[[nodiscard]] std::optional<Untracked> why_untracked(const GraphState& graph, std::uint32_t index);

/// Whether the node, or one inside it, does something that no access to memory tells, so that its place in a program
/// matters: it orders work outside the graph, or kernels may change what it does.
[[nodiscard]] bool keeps_place(const GraphState& graph, std::uint32_t index);

} // namespace cudag::detail
