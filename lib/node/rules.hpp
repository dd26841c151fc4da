// What CUDA allows for each kind of node, and how it is read: one row a kind.
#pragma once

#include "node_params.hpp"

#include <cudag/node.hpp>

#include <cstdint>
#include <memory_resource>
#include <string_view>

namespace cudag::detail {

/// What a node is to a graph that kernels launch.
enum class DeviceLaunch : std::uint8_t { refused, allowed, work };

struct KindRules {
    NodeKind kind;
    std::string_view name;
    const char* shape;          ///< in pictures, as Graphviz calls it
    bool allowed_in_body;       ///< of a conditional
    bool allowed_in_child;      ///< a graph that is a child, or inside one
    bool can_be_disabled;       ///< in an exec
    bool can_be_cloned;         ///< with its graph
    bool can_have_execs;        ///< several of them at a time
    DeviceLaunch device_launch; ///< one at least must be `work`
    unsigned alternatives;      ///< of NodeParams that its nodes may have: a bit for each
    /// The parameters of a node that was made without cudag, in `memory`; null for kernels, which KernelReader reads,
    /// and where CUDA tells none. Throws GraphError.
    NodeParams (*read)(cudaGraphNode_t node, std::pmr::memory_resource& memory);
};

/// The row of a kind; one for kinds that cudag does not know.
[[nodiscard]] const KindRules& rules_of(NodeKind kind) noexcept;

/// The kind of CUDA's node, by the driver: the runtime answers "unknown error" for kinds that only the driver has.
/// Throws GraphError.
[[nodiscard]] NodeKind kind_of(cudaGraphNode_t node);

/// Whether its parameters tell what the node does to memory.
[[nodiscard]] constexpr bool has_memory_operands(NodeKind kind) noexcept {
    return kind == NodeKind::memcpy || kind == NodeKind::memset || kind == NodeKind::alloc || kind == NodeKind::free;
}
/// CUDA removes no node of a graph with one of these.
[[nodiscard]] constexpr bool is_graph_memory(NodeKind kind) noexcept {
    return kind == NodeKind::alloc || kind == NodeKind::free;
}

} // namespace cudag::detail
