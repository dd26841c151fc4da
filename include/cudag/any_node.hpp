// Node: a handle to a node of any kind.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/kernel_info.hpp>
#include <cudag/source_location.hpp>

#include <driver_types.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cudag {

/// The operation of a node. The values are those of `cudaGraphNodeType`. A join is an `empty` node in CUDA. Only the
/// driver API has `batch_mem_op`, the writes and waits of `cuStreamWriteValue32` and the like: see MemoryOperationNode.
/// CUDA has `memcpy_batch` since 13.5: see CopyBatch.
enum class NodeKind : unsigned {
    kernel = cudaGraphNodeTypeKernel,
    memcpy = cudaGraphNodeTypeMemcpy,
    memset = cudaGraphNodeTypeMemset,
    host = cudaGraphNodeTypeHost,
    child = cudaGraphNodeTypeGraph,
    empty = cudaGraphNodeTypeEmpty,
    wait_event = cudaGraphNodeTypeWaitEvent,
    record_event = cudaGraphNodeTypeEventRecord,
    signal_semaphore = cudaGraphNodeTypeExtSemaphoreSignal,
    wait_semaphore = cudaGraphNodeTypeExtSemaphoreWait,
    alloc = cudaGraphNodeTypeMemAlloc,
    free = cudaGraphNodeTypeMemFree,
    batch_mem_op = 12, // CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
    conditional = cudaGraphNodeTypeConditional,
    memcpy_batch = 14, // cudaGraphNodeTypeMemcpyBatch
};

/// Returns the name of the enumerator: "kernel", "memcpy", ...
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(NodeKind kind) noexcept;

class Node;

/// Returns "kernel \"scale\" at a.cpp:12", as in errors. For an empty handle, or a node or graph that is gone, the text
/// reports that.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Node& node);

template <class... Parameter>
class KernelNode;
template <class... Parameter>
class TypedFunction;
class CapturedNode;

namespace detail {

class GraphIdentity;
struct GraphSlot;

/// The kind of a conditional node. The values are those of `cudaGraphConditionalNodeType`; CUDA 12.4 has the first two.
enum class ConditionalKind : unsigned { if_, while_, switch_ };

/// Records declared accesses of the node, in addition to those of its arguments.
CUDAG_EXPORT void declare_accesses(const Node& node, std::vector<ArgumentAccess>&& accesses);

/// An operand of `.reads` and `.writes`: a range of device or host memory, a region, or a shared_ptr to a range.
template <class Memory>
concept DeclaredMemory = OperandArgument<const Memory&> || is_span_parameter<Memory>;

template <class Memory>
ArgumentAccess declared_access(const Memory& memory, AccessMode mode) {
    if constexpr (is_span_parameter<Memory>) {
        return {whole_node, mode, sizeof(typename Memory::element_type), block_of(memory)};
    } else {
        Owners borrowed;
        const auto operand = to_operand(memory, 0, borrowed);
        return {whole_node, mode, sizeof *operand.data, block_at(operand.data, operand.size * sizeof *operand.data)};
    }
}

/// Returns the accesses declared by `.reads(memory...)` or `.writes(memory...)`.
template <AccessMode Mode, class... Memory>
std::vector<ArgumentAccess> declared_accesses(const Memory&... memory) {
    static_assert(sizeof...(Memory) > 0, "cudag: reads() and writes() need at least one range of memory");
    static_assert((DeclaredMemory<Memory> && ...),
                  "cudag: reads() and writes() take buffers, spans and host ranges; a raw pointer has no length: "
                  "make it a DeviceSpan or std::span");
    if constexpr ((DeclaredMemory<Memory> && ...))
        return {declared_access(memory, Mode)...};
    else
        return {};
}

} // namespace detail

/// A handle to any node.
///
///     auto first = b.kernel(config, fill, x, 1.0f, n).label("fill x");
///     b.kernel(config, scale, x, 2.0f, n).after(first);
///     cudag::Graph graph = std::move(b).build();
///     for (const cudag::Node& node : graph.nodes())
///         std::puts(to_string(node).c_str());
///     cudag::Node found = graph.find_one("fill x");
///     auto typed = found.as(fill); // a KernelNode<float*, float, int>
///
/// It owns nothing, and refers to its node through the identity of the graph. Every use throws GraphError if the handle
/// is empty, its node was removed, or its graph no longer exists. A graph exists until its builder or Graph and all its
/// Execs are destroyed. Handles stay valid when a builder becomes a Graph, and when other nodes are removed. Threads:
/// as its Graph permits; before `build()`, as its GraphBuilder permits.
class CUDAG_EXPORT Node {
  public:
    Node() noexcept = default;

    [[nodiscard]] NodeKind kind() const;
    /// Returns the label, or "" without one. Valid until the node gets another label, or its graph is destroyed.
    [[nodiscard]] std::string_view label() const;
    /// Returns the source location of the node's creation; "nowhere" for an adopted node.
    [[nodiscard]] SourceLocation location() const;
    /// Returns CUDA's own handle, borrowed. Do not destroy the node through it.
    [[nodiscard]] cudaGraphNode_t native() const;
    /// Returns the id that tools, such as CUPTI and Nsight Systems, give this node. Throws GraphError before CUDA 13.1.
    [[nodiscard]] std::uint64_t tools_id() const;
    /// Returns the device of the node: for a kernel as CUDA reports it; for others as given by `b.on(device)`, or else
    /// the device of the memory of a fill, a copy (of the destination, unless that is host memory) or an allocation.
    /// Nothing for other nodes, such as joins. Also for captured nodes.
    [[nodiscard]] std::optional<int> device() const;
    /// Describes the launch of a kernel node, with its current values in the Graph. Throws GraphError for other kinds.
    [[nodiscard]] KernelInfo kernel_info() const;

    /// Returns the nodes with an edge to this one, each once, in the order of their edges; see Graph::edges. Reads a
    /// captured graph. Takes time for all edges of the graph: walk a whole graph by `Graph::edges`.
    [[nodiscard]] std::vector<Node> predecessors() const;
    /// Returns the nodes with an edge from this one, otherwise as `predecessors` does.
    [[nodiscard]] std::vector<Node> successors() const;

    /// Names the node in errors, reports and DOT. Copies the text; a second call replaces the first label.
    Node label(std::string_view text) const; // cudag: label(text) takes a string

    /// Declares that the node reads `memory` (buffers, spans and host ranges, all borrowed), in addition to its
    /// arguments: for host nodes, raw pointers and kernels of libraries. A node with `.reads` or `.writes` counts as
    /// declaring all memory that it uses. Race checks, inferred edges and `relax` use the declaration. Takes effect in
    /// this Graph, in later clones, and in the Graph's Execs until they update the node.
    template <class... Memory>
    Node reads(const Memory&... memory) const { // cudag: reads(memory, ...) takes buffers, spans and host ranges
        detail::declare_accesses(*this, detail::declared_accesses<detail::AccessMode::read>(memory...));
        return *this;
    }
    /// Declares that the node writes, and may read, `memory`; otherwise as `reads`.
    template <class... Memory>
    Node writes(const Memory&... memory) const { // cudag: writes(memory, ...) takes buffers, spans and host ranges
        detail::declare_accesses(*this, detail::declared_accesses<detail::AccessMode::write>(memory...));
        return *this;
    }

    /// Returns the typed handle of this node, such as `node.as<MemcpyNode>()`. Throws GraphError if the node is of
    /// another kind, or is an adopted or captured conditional and the driver older than CUDA 13.2, which does not
    /// report its kind.
    template <class Handle>
    requires requires { Handle::node_kind; }
    [[nodiscard]] Handle as() const { // cudag: as<MemcpyNode>(), or as(kernel) for kernels
        require_kind(Handle::node_kind);
        if constexpr (requires { Handle::conditional_kind; }) require_conditional(Handle::conditional_kind);
        return Handle(detail::Passkey(), *this);
    }

    /// Returns the typed handle of a kernel node. Throws GraphError if the node does not launch `kernel`.
    template <class... Parameter>
    [[nodiscard]] KernelNode<Parameter...> as(void (*kernel)(Parameter...)) const;
    template <class... Parameter>
    [[nodiscard]] KernelNode<Parameter...> as(const TypedFunction<Parameter...>& function) const;

    template <class... Handle>
    Node
    after(const Handle&...) const = delete; // cudag: edges are added by typed handles: those that the builder returned

    /// Compares identity: same node of the same graph.
    friend bool operator==(const Node&, const Node&) = default;

  private:
    friend class detail::GraphIdentity;
    void require_kind(NodeKind expected) const;
    void require_conditional(detail::ConditionalKind expected) const;

    detail::GraphSlot* slot_ = nullptr;
    std::uint32_t generation_ = 0;
    std::uint32_t number_ = 0; ///< its index, as long as no node was removed
};

namespace detail {

template <class Handle>
concept AnyNode = std::derived_from<Handle, Node>;

template <class Handle>
inline constexpr bool is_captured_node = std::same_as<Handle, CapturedNode>;

template <class Range>
concept NodeRange = !AnyNode<Range> && requires(const Range& range) {
    requires AnyNode<std::remove_cvref_t<decltype(*std::begin(range))>> ||
                 is_captured_node<std::remove_cvref_t<decltype(*std::begin(range))>>;
    std::end(range);
};

CUDAG_EXPORT void keep_with_node(const Node& node, std::vector<std::shared_ptr<const void>>&& owners);

/// Appends the tails of `region`: a successor of a region comes after them. Throws GraphError if its graph is gone.
CUDAG_EXPORT void append_tails(std::vector<Node>& list, const CapturedNode& region);

template <class Handle>
void append_nodes(std::vector<Node>& list, const Handle& source) {
    if constexpr (AnyNode<Handle>)
        list.push_back(source);
    else if constexpr (is_captured_node<Handle>)
        append_tails(list, source);
    else
        for (const auto& each : source)
            append_nodes(list, each);
}

/// Returns the handles in `nodes` (handles, regions, or ranges of them) in order: in an array if their number is known
/// at compile time, otherwise in a vector.
template <class... Handle>
auto list_nodes(const Handle&... nodes) {
    if constexpr ((AnyNode<Handle> && ...)) {
        return std::array<Node, sizeof...(Handle)>{nodes...};
    } else {
        std::vector<Node> list;
        (append_nodes(list, nodes), ...);
        return list;
    }
}

} // namespace detail

} // namespace cudag
