// Node handles: small values, each names a node of one graph.
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

/// The operation of a node. The values are those of `cudaGraphNodeType`. A join is an `empty` node in CUDA. Only the
/// driver API has `batch_mem_op`, the writes and waits of `cuStreamWriteValue32` and the like: cudag captures, clones
/// and updates them with their graph, and does not describe them.
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
        return {whole_node, mode, sizeof(typename Memory::element_type), region_of(memory)};
    } else {
        Owners borrowed;
        const auto operand = to_operand(memory, 0, borrowed);
        return {whole_node, mode, sizeof *operand.data, region_at(operand.data, operand.size * sizeof *operand.data)};
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
    /// Describes the launch of a kernel node, with its current values in the Graph. Throws GraphError for other kinds.
    [[nodiscard]] KernelInfo kernel_info() const;

    /// Names the node in errors, reports and DOT. Copies the text; a second call replaces the first label.
    Node label(std::string_view text) const; // cudag: label(text) takes a string

    /// Declares that the node reads `memory` (buffers, spans and host ranges, all borrowed), in addition to its
    /// arguments: for host nodes, raw pointers and kernels of libraries. A node with `.reads` or `.writes` counts as
    /// declaring all memory that it uses. Race checks, inferred edges and `relax` use
    /// the declaration. Takes effect in this Graph, in later clones, and in the Graph's Execs until they update the
    /// node.
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
    /// another kind, or is an adopted conditional, since CUDA does not report its kind.
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

/// A predecessor of a node, and the kind of the edge from it.
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

/// Adds all edges or none. Throws GraphError for a foreign or dead handle, an edge from a node to itself, or a graph
/// already built.
CUDAG_EXPORT void add_edges(const Node& to, const Node* from, std::size_t count);
CUDAG_EXPORT void add_edges(const Node& to, const Dependency* from, std::size_t count);

/// A handle of another type than Self.
template <class Handle, class Self>
concept OtherHandle = AnyNode<Handle> && !std::same_as<Handle, Self> && !std::derived_from<Handle, Self>;

/// The base of typed handles: labels, declarations and edges that return the handle itself.
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

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) alive with the node's graph, as
    /// Graph::retain does: for memory borrowed by an argument, or reached by the kernel in another way.
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

    /// Adds edges: this node starts when all of `nodes` (handles, captured regions, or ranges of them) have finished. A
    /// kernel node also accepts `programmatic(kernel)` and `launch_completion(kernel)`, the edges of programmatic
    /// dependent launch (PDL). A repeated edge counts once. Throws GraphError, and adds nothing, if a handle is of
    /// another graph or the graph is already built.
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

/// Copies argument `index` of a kernel node to `to`. Throws GraphError if its size is not `bytes`.
CUDAG_EXPORT void read_argument(const Node& node, std::uint32_t index, void* to, std::size_t bytes);

/// Returns CUDA's device-side handle. Throws GraphError if the node is not device-updatable.
[[nodiscard]] CUDAG_EXPORT cudaGraphDeviceNode_t device_node(const Node& node);

} // namespace detail

/// A kernel launch with parameters of these types.
///
///     cudag::KernelNode<float*, float, int> node = b.kernel(config, scale, x, 2.0f, n).label("scale x");
///     cudag::Graph graph = std::move(b).build();
///     float factor = node.get<1>(); // 2.0f
///     graph.update(node, cudag::arg<1>(3.0f));
template <class... Parameter>
class KernelNode : public detail::TypedNode<KernelNode<Parameter...>> {
  public:
    using detail::TypedNode<KernelNode>::TypedNode;

    /// Returns a copy of argument `Index` in the Graph: the value of the last `Graph::update`, or of the node's
    /// creation.
    template <std::size_t Index>
    [[nodiscard]] auto get() const { // cudag: get<I>() reads parameter I, counted from 0
        static_assert(Index < sizeof...(Parameter),
                      "cudag: get<I>(): the kernel has no parameter I; they are counted from 0");
        if constexpr (Index < sizeof...(Parameter))
            return copy_argument<std::tuple_element_t<Index, std::tuple<Parameter...>>>(Index);
    }

    /// Returns a handle for kernels that change this node, see DeviceNode. It may be an argument of nodes of the same
    /// graph. Throws GraphError unless the node was made with `.device_updatable`. A graph with such a node has one
    /// Exec at a time, cannot be cloned, and takes no part in whole updates. An update of the node through an Exec
    /// replaces all changes made by kernels.
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
///
///     cudag::MemcpyNode download = b.memcpy(host, x);
///     cudag::Graph graph = std::move(b).build();
///     graph.update(download, host, y);
class MemcpyNode : public detail::TypedNode<MemcpyNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::memcpy;
    using TypedNode::TypedNode;
};

/// A fill of a range of device memory with one value.
///
///     cudag::MemsetNode clear = b.memset(x, 0.0f);
///     cudag::Graph graph = std::move(b).build();
///     graph.update(clear, y, 1.0f);
class MemsetNode : public detail::TypedNode<MemsetNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::memset;
    using TypedNode::TypedNode;
};

/// A call of a function on the host. The function must make no CUDA calls.
///
///     cudag::HostNode report = b.host([] { std::puts("done"); });
///     cudag::Graph graph = std::move(b).build();
///     graph.update(report, [] { std::puts("done again"); });
class HostNode : public detail::TypedNode<HostNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::host;
    using TypedNode::TypedNode;
};

/// A node made from CUDA's own description.
///
///     cudaGraphNodeParams params{};
///     params.type = cudaGraphNodeTypeEmpty;
///     cudag::NativeNode node = b.native(params);
///     auto join = node.as<cudag::JoinNode>(); // the handle of its kind
class NativeNode : public detail::TypedNode<NativeNode> {
  public:
    using TypedNode::TypedNode;
};

/// A barrier: a node without work, to order many nodes after many others.
///
///     auto first = b.kernel(config, fill, x, 1.0f, n);
///     auto second = b.kernel(config, fill, y, 1.0f, n);
///     cudag::JoinNode both = b.join(first, second);
///     b.kernel(config, add, x, y, x, n).after(both);
class JoinNode : public detail::TypedNode<JoinNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::empty;
    using TypedNode::TypedNode;
};

/// A node that records an event: in each launch, the event is reached when the node's predecessors have finished.
///
///     cudag::Event done;
///     cudag::RecordNode mark = b.record(done).after(b.kernel(config, step, x, n));
class RecordNode : public detail::TypedNode<RecordNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::record_event;
    using TypedNode::TypedNode;
};

/// A node that waits for the work recorded by an event.
///
///     cudag::Event ready;
///     b.kernel(config, step, x, n).after(b.wait(ready));
class WaitNode : public detail::TypedNode<WaitNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::wait_event;
    using TypedNode::TypedNode;
};

/// A node that signals external semaphores.
///
///     cudaExternalSemaphore_t timeline = nullptr; // imported by cudaImportExternalSemaphore
///     cudag::SignalNode signal = b.signal({timeline, 5}).after(b.kernel(config, step, x, n));
///     graph = std::move(b).build();
///     graph.update(signal, {timeline, 6});
class SignalNode : public detail::TypedNode<SignalNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::signal_semaphore;
    using TypedNode::TypedNode;
};

/// A node that waits for external semaphores.
///
///     cudaExternalSemaphore_t timeline = nullptr; // imported by cudaImportExternalSemaphore
///     cudag::SemaphoreWaitNode ready = b.wait({timeline, 5});
///     b.kernel(config, step, x, n).after(ready);
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
