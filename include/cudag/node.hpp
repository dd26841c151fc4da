// Node handles: small values that name a node of one graph.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/device_node.hpp>
#include <cudag/edge.hpp>
#include <cudag/kernel_info.hpp>
#include <cudag/source_location.hpp>

#include <driver_types.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace cudag {

/// What a node does; the values are those of `cudaGraphNodeType`. `empty` is what a join is in CUDA. `batch_mem_op` is
/// the driver's alone: writes and waits of `cuStreamWriteValue32` and its like, which cudag captures, clones and
/// updates with their graph, and does not describe.
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
};

/// "kernel", "memcpy", ... as in the enumerators.
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(NodeKind kind) noexcept;

class Node;

/// "kernel \"scale\" at a.cpp:12", as in errors; of an empty handle, or one whose node or graph is gone, that it is so.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Node& node);

template <class... Parameter>
class KernelNode;
template <class... Parameter>
class TypedFunction;
class CapturedNode;

namespace detail {

class GraphIdentity;
struct GraphSlot;

/// The values are those of `cudaGraphConditionalNodeType`, of which CUDA 12.4 knows the first two.
enum class ConditionalKind : unsigned { if_, while_, switch_ };

/// Notes that the node does this to memory, besides what its arguments say.
CUDAG_EXPORT void declare_accesses(const Node& node, std::vector<ArgumentAccess>&& accesses);

/// What `.reads` and `.writes` take: ranges of device or host memory, regions, and shared_ptrs to ranges.
template <class Memory>
concept DeclaredMemory = OperandArgument<const Memory&> || is_span_parameter<Memory>;

template <class Memory>
ArgumentAccess declared_access(const Memory& memory, AccessMode mode) {
    if constexpr (is_span_parameter<Memory>) {
        return {whole_node, mode, sizeof(typename Memory::element_type), region_of(memory)};
    } else {
        Owners borrowed;
        const auto operand = to_operand(memory, 0, borrowed);
        return {whole_node, mode, sizeof *operand.data, region_at(operand.data, operand.size * sizeof *operand.data)};
    }
}

/// What `.reads(memory...)` and `.writes(memory...)` say.
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

/// A handle to any node. It owns nothing, and refers to its node through the graph's identity: every use of a handle
/// that is empty, whose node was removed, or whose graph no longer exists, throws GraphError. Handles stay valid when a
/// builder becomes a Graph, and when other nodes are removed. Threads: as its Graph says; before that, as its
/// GraphBuilder.
class CUDAG_EXPORT Node {
  public:
    Node() noexcept = default;

    [[nodiscard]] NodeKind kind() const;
    /// The label given, or "" if none was. Valid until the node gets another, or its graph goes.
    [[nodiscard]] std::string_view label() const;
    /// Where the node was made; "nowhere" for an adopted one.
    [[nodiscard]] SourceLocation location() const;
    /// CUDA's own handle, borrowed. Do not destroy the node through it.
    [[nodiscard]] cudaGraphNode_t native() const;
    /// What a kernel node launches, as it is in the Graph. Throws GraphError for a node of another kind.
    [[nodiscard]] KernelInfo kernel_info() const;

    /// Names the node in errors, reports and DOT. The text is copied; a second call replaces the first.
    Node label(std::string_view text) const; // cudag: label(text) takes a string

    /// Says that the node reads `memory` (buffers, spans and host ranges, all borrowed), besides what its arguments
    /// tell: for host nodes, raw pointers, libraries' kernels. For races, for edges that are inferred, and for `relax`.
    /// Takes effect in this Graph and in clones made from now on.
    template <class... Memory>
    Node reads(const Memory&... memory) const { // cudag: reads(memory, ...) takes buffers, spans and host ranges
        detail::declare_accesses(*this, detail::declared_accesses<detail::AccessMode::read>(memory...));
        return *this;
    }
    /// The same for memory that it writes, and may read.
    template <class... Memory>
    Node writes(const Memory&... memory) const { // cudag: writes(memory, ...) takes buffers, spans and host ranges
        detail::declare_accesses(*this, detail::declared_accesses<detail::AccessMode::write>(memory...));
        return *this;
    }

    /// The typed handle of this node, such as `node.as<MemcpyNode>()`. Throws GraphError if the node is another kind.
    template <class Handle>
    requires requires { Handle::node_kind; }
    [[nodiscard]] Handle as() const { // cudag: as<MemcpyNode>(), or as(kernel) for kernels
        require_kind(Handle::node_kind);
        if constexpr (requires { Handle::conditional_kind; }) require_conditional(Handle::conditional_kind);
        return Handle(detail::Passkey(), *this);
    }

    /// The typed handle of a kernel node. Throws GraphError if the node does not launch `kernel`.
    template <class... Parameter>
    [[nodiscard]] KernelNode<Parameter...> as(void (*kernel)(Parameter...)) const;
    template <class... Parameter>
    [[nodiscard]] KernelNode<Parameter...> as(const TypedFunction<Parameter...>& function) const;

    template <class... Handle>
    Node
    after(const Handle&...) const = delete; // cudag: edges are added by typed handles: those that the builder returned

    /// Same node of the same graph.
    friend bool operator==(const Node&, const Node&) = default;

  private:
    friend class detail::GraphIdentity;
    void require_kind(NodeKind expected) const;
    void require_conditional(detail::ConditionalKind expected) const;

    detail::GraphSlot* slot_ = nullptr;
    std::uint32_t generation_ = 0;
    std::uint32_t number_ = 0; ///< its index, where no node was removed
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

/// What comes after a region comes after its tails. Throws GraphError if its graph is gone.
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

/// The handles in `nodes`, handles, regions or ranges of them, in order: an array if their number is known, else a
/// vector.
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

template <class Handle>
inline constexpr bool is_kernel_node = false;
template <class... Parameter>
inline constexpr bool is_kernel_node<KernelNode<Parameter...>> = true;

template <class GivenEvent>
inline constexpr bool is_early_edge = false;
template <class Handle>
inline constexpr bool is_early_edge<EarlyEdge<Handle>> = true;

template <class GivenEvent>
inline constexpr bool is_early_edge_of_kernel = false;
template <class Handle>
inline constexpr bool is_early_edge_of_kernel<EarlyEdge<Handle>> = is_kernel_node<Handle>;

/// A node to come after, and what of it to wait for.
struct Dependency {
    Node node;
    EdgeKind kind = EdgeKind::full;
};

template <class Handle>
void append_dependencies(std::vector<Dependency>& list, const Handle& nodes) {
    if constexpr (AnyNode<Handle>)
        list.push_back({nodes});
    else if constexpr (is_early_edge<Handle>)
        list.push_back({nodes.node, nodes.kind});
    else
        for (const Node& node : list_nodes(nodes))
            list.push_back({node});
}

/// All edges or none. Throws GraphError for a foreign or dead handle, a node after itself, or a graph already built.
CUDAG_EXPORT void add_edges(const Node& to, const Node* from, std::size_t count);
CUDAG_EXPORT void add_edges(const Node& to, const Dependency* from, std::size_t count);

/// A handle that is not of type Self, given where one is needed.
template <class Handle, class Self>
concept OtherHandle = AnyNode<Handle> && !std::same_as<Handle, Self> && !std::derived_from<Handle, Self>;

/// What makes a handle of one kind: labels and edges that return the handle itself.
template <class Self>
class TypedNode : public Node {
  public:
    TypedNode() noexcept = default;
    TypedNode(Passkey, const Node& node) noexcept : Node(node) {}
    template <OtherHandle<Self> Handle>
    explicit TypedNode( // cudag: handles get their type by as<>(), as(kernel) or find_one(kernel)
        const Handle&) = delete;

    using Node::label;
    Self label(std::string_view text) const { // cudag: label(text) takes a string
        Node::label(text);
        return static_cast<const Self&>(*this);
    }

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) with the node's graph, as Graph::retain: of
    /// what an argument borrows, or a kernel finds by itself.
    template <OwnerArgument... Owner>
    Self retain(const Owner&... owners) const { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        keep_with_node(*this, {owner_of(owners)...});
        return static_cast<const Self&>(*this);
    }

    template <class... Memory>
    Self reads(const Memory&... memory) const { // cudag: reads(memory, ...) takes buffers, spans and host ranges
        Node::reads(memory...);
        return static_cast<const Self&>(*this);
    }
    template <class... Memory>
    Self writes(const Memory&... memory) const { // cudag: writes(memory, ...) takes buffers, spans and host ranges
        Node::writes(memory...);
        return static_cast<const Self&>(*this);
    }

    /// This node starts when all of `nodes` (handles, captured regions, or ranges of them) have finished; a kernel node
    /// also takes `programmatic(kernel)` and `launch_completion(kernel)`, see there. A repeated edge counts once.
    /// Throws GraphError, and adds nothing, if a handle is of another graph or the graph is built already.
    template <class... Handle>
    Self after(const Handle&... nodes) const { // cudag: after(a, b, ...) takes the nodes one by one, or a range of them
        static_assert(sizeof...(Handle) > 0, "cudag: after() needs at least one node");
        static_assert(
            ((AnyNode<Handle> || NodeRange<Handle> || is_captured_node<Handle> || is_early_edge<Handle>)&&...),
            "cudag: after() takes node handles or ranges of node handles; graph.find_one(label or kernel) gives one");
        constexpr bool early = (is_early_edge<Handle> || ...);
        static_assert(!early ||
                          (is_kernel_node<Self> && ((!is_early_edge<Handle> || is_early_edge_of_kernel<Handle>)&&...)),
                      "cudag: a programmatic edge leads from kernel to kernel");
        if constexpr (((AnyNode<Handle> || NodeRange<Handle> || is_captured_node<Handle>)&&...)) {
            const auto from = list_nodes(nodes...);
            add_edges(*this, from.data(), from.size());
        } else if constexpr (is_kernel_node<Self> &&
                             ((AnyNode<Handle> || NodeRange<Handle> || is_captured_node<Handle> ||
                               is_early_edge_of_kernel<Handle>)&&...)) {
            std::vector<Dependency> from;
            (append_dependencies(from, nodes), ...);
            add_edges(*this, from.data(), from.size());
        }
        return static_cast<const Self&>(*this);
    }
};

/// Copies argument `index` of a kernel node to `to`. Throws GraphError if it has another size.
CUDAG_EXPORT void read_argument(const Node& node, std::uint32_t index, void* to, std::size_t bytes);

/// Throws GraphError if the node is not device-updatable.
[[nodiscard]] CUDAG_EXPORT cudaGraphDeviceNode_t device_node(const Node& node);

} // namespace detail

/// A kernel launch whose parameters are of these types.
template <class... Parameter>
class KernelNode : public detail::TypedNode<KernelNode<Parameter...>> {
  public:
    using detail::TypedNode<KernelNode>::TypedNode;

    /// A copy of argument `I` as it is in the Graph: what `Graph::update` gave it last, or what it was made with.
    template <std::size_t Index>
    [[nodiscard]] auto get() const { // cudag: get<I>() reads parameter I, counted from 0
        static_assert(Index < sizeof...(Parameter),
                      "cudag: get<I>(): the kernel has no parameter I; they are counted from 0");
        if constexpr (Index < sizeof...(Parameter))
            return copy_argument<std::tuple_element_t<Index, std::tuple<Parameter...>>>(Index);
    }

    /// What other kernels change this node by, of a node made with `.device_updatable`; it may be an argument of nodes
    /// of the same graph. Throws GraphError for others. Such a graph has one Exec at a time, is not cloned, and updates
    /// no Exec as a whole; an update of the node through an Exec replaces all that kernels have changed in it.
    [[nodiscard]] DeviceNode<Parameter...> on_device() const { return {detail::Passkey(), detail::device_node(*this)}; }

  private:
    template <class Element>
    [[nodiscard]] auto copy_argument(std::uint32_t index) const {
        static_assert(std::is_trivially_copyable_v<Element>,
                      "cudag: get<I>(): the parameter is not trivially copyable, and cannot be copied out of a node");
        if constexpr (std::is_trivially_copyable_v<Element>) {
            std::array<std::byte, sizeof(Element)> bytes;
            detail::read_argument(*this, index, bytes.data(), bytes.size());
            return std::bit_cast<Element>(bytes);
        }
    }
};

/// A copy between two ranges of memory.
class MemcpyNode : public detail::TypedNode<MemcpyNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::memcpy;
    using TypedNode::TypedNode;
};

/// A range of device memory filled with one value.
class MemsetNode : public detail::TypedNode<MemsetNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::memset;
    using TypedNode::TypedNode;
};

/// A function called on the host. It must make no CUDA calls.
class HostNode : public detail::TypedNode<HostNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::host;
    using TypedNode::TypedNode;
};

/// A node made from CUDA's own description; `as` gives the handle of its kind.
class NativeNode : public detail::TypedNode<NativeNode> {
  public:
    using TypedNode::TypedNode;
};

/// A barrier: it does nothing but wait for the nodes it comes after.
class JoinNode : public detail::TypedNode<JoinNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::empty;
    using TypedNode::TypedNode;
};

/// A mark of an event: it is reached when the nodes before it have finished, in each launch anew.
class RecordNode : public detail::TypedNode<RecordNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::record_event;
    using TypedNode::TypedNode;
};

/// Waits for the work that an event marks.
class WaitNode : public detail::TypedNode<WaitNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::wait_event;
    using TypedNode::TypedNode;
};

/// Signals external semaphores.
class SignalNode : public detail::TypedNode<SignalNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::signal_semaphore;
    using TypedNode::TypedNode;
};

/// Waits for external semaphores.
class SemaphoreWaitNode : public detail::TypedNode<SemaphoreWaitNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::wait_semaphore;
    using TypedNode::TypedNode;
};

namespace detail {
CUDAG_EXPORT void require_kernel(const Node& node, const void* symbol);
} // namespace detail

template <class... Parameter>
KernelNode<Parameter...> Node::as(void (*kernel)(Parameter...)) const {
    detail::require_kernel(*this, detail::kernel_symbol(kernel));
    return KernelNode<Parameter...>(detail::Passkey(), *this);
}

} // namespace cudag
