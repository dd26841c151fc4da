// CUDA's rules for each kind of node, and its reader: one row for each kind.
#pragma once

#include "node_params.hpp"

#include <cudag/node.hpp>

#include <cstdint>
#include <memory_resource>
#include <string_view>

namespace cudag::detail {

/// The role of a node in a graph for device-side launch.
enum class DeviceLaunch : std::uint8_t { refused, allowed, work };

/// The effects of a node, as its kind tells them.
enum class Effects : std::uint8_t {
    nothing,    ///< no access to memory
    operands,   ///< accesses to the operands in its parameters
    arguments,  ///< accesses by a kernel: see why_untracked
    inside,     ///< the effects of the nodes inside
    condition,  ///< reads a condition, and runs its bodies
    outside,    ///< orders work outside the graph
    visible,    ///< accesses to the operands in its parameters, which order work outside the graph
    undeclared, ///< unknown ones, unless the node declares them
};

struct KindRules {
    NodeKind kind;
    std::string_view name;
    const char* shape;          ///< in pictures, by Graphviz's name
    const char* color;          ///< in pictures coloured by kind
    bool allowed_in_body;       ///< of a conditional
    bool allowed_in_child;      ///< a graph that is a child, or inside one
    bool can_be_disabled;       ///< in an exec
    bool can_be_cloned;         ///< with its graph
    bool can_have_execs;        ///< several at a time
    DeviceLaunch device_launch; ///< at least one node must be `work`
    Effects effects;
    unsigned alternatives; ///< permitted alternatives of NodeParams, a bit for each
    /// Reads the parameters of a node made without cudag into `memory`; null for kernels, which KernelReader reads, and
    /// for kinds whose parameters CUDA does not report. Throws GraphError.
    NodeParams (*read)(cudaGraphNode_t node, std::pmr::memory_resource& memory);
};

/// The row of a kind; a generic row for unknown kinds.
[[nodiscard]] const KindRules& rules_of(NodeKind kind) noexcept;

/// The kind of CUDA's node, from the driver: the runtime returns "unknown error" for kinds that only the driver has.
/// Throws GraphError.
[[nodiscard]] NodeKind kind_of(cudaGraphNode_t node);

/// Whether the parameters of such nodes determine their memory accesses.
[[nodiscard]] constexpr bool has_memory_operands(NodeKind kind) noexcept {
    return kind == NodeKind::memcpy || kind == NodeKind::memset || kind == NodeKind::alloc || kind == NodeKind::free ||
           kind == NodeKind::batch_mem_op || kind == NodeKind::memcpy_batch;
}
/// Whether the nodes are graph memory nodes: CUDA removes no node of a graph with one of these.
[[nodiscard]] constexpr bool is_graph_memory(NodeKind kind) noexcept {
    return kind == NodeKind::alloc || kind == NodeKind::free;
}

} // namespace cudag::detail
