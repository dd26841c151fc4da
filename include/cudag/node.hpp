// The typed handles of nodes, one for each kind: KernelNode, MemcpyNode, MemsetNode, HostNode, ...
#pragma once

#include <cudag/any_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/device_node.hpp>
#include <cudag/edge.hpp>
#include <cudag/external_semaphore.hpp>
#include <cudag/typed_node.hpp>

#include <driver_types.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

namespace cudag {

namespace detail {

/// Copies argument `index` of a kernel node to `to`. Throws GraphError if its size is not `bytes`.
CUDAG_EXPORT void read_argument(const Node& node, std::uint32_t index, void* to, std::size_t bytes);

/// The memory of a copy or a fill.
struct NodeMemory {
    void* destination;
    const void* source; ///< null for a fill
    std::size_t bytes;
};
/// The value of a fill.
struct FillValue {
    unsigned bits;
    unsigned element_bytes;
};
[[nodiscard]] CUDAG_EXPORT NodeMemory memory_of(const Node& node);
[[nodiscard]] CUDAG_EXPORT FillValue fill_value_of(const Node& node);
[[nodiscard]] CUDAG_EXPORT cudaEvent_t event_of(const Node& node);
[[nodiscard]] CUDAG_EXPORT std::vector<SemaphoreSignal> signals_of(const Node& node);
[[nodiscard]] CUDAG_EXPORT std::vector<SemaphoreWait> waits_of(const Node& node);

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
///     const void* from = download.source(); // y.data()
///
/// The getters return the values in the Graph: those of the last `Graph::update`, or of the node's creation.
class MemcpyNode : public detail::TypedNode<MemcpyNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::memcpy;
    using TypedNode::TypedNode;

    /// Returns the address of the first byte written; null for a CUDA array.
    [[nodiscard]] void* destination() const { return detail::memory_of(*this).destination; }
    /// Returns the address of the first byte read; null for a CUDA array.
    [[nodiscard]] const void* source() const { return detail::memory_of(*this).source; }
    /// Returns the number of bytes copied, of all rows and slices without the padding between them.
    [[nodiscard]] std::size_t bytes() const { return detail::memory_of(*this).bytes; }
};

/// A fill of a range of device memory with one value.
///
///     cudag::MemsetNode clear = b.memset(x, 0.0f);
///     cudag::Graph graph = std::move(b).build();
///     graph.update(clear, y, 1.0f);
///     unsigned bits = clear.value(); // 0x3f800000, the bits of 1.0f
///
/// The getters return the values in the Graph: those of the last `Graph::update`, or of the node's creation.
class MemsetNode : public detail::TypedNode<MemsetNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::memset;
    using TypedNode::TypedNode;

    /// Returns the address of the first byte written.
    [[nodiscard]] void* destination() const { return detail::memory_of(*this).destination; }
    /// Returns the number of bytes written, of all rows without the padding between them.
    [[nodiscard]] std::size_t bytes() const { return detail::memory_of(*this).bytes; }
    /// Returns the bits of the value in the lowest `element_bytes()` bytes.
    [[nodiscard]] unsigned value() const { return detail::fill_value_of(*this).bits; }
    /// Returns the size of the value: 1, 2 or 4 bytes. Larger elements of equal parts, such as 0.0, count as several.
    [[nodiscard]] unsigned element_bytes() const { return detail::fill_value_of(*this).element_bytes; }
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

    /// Returns the event that the node records, borrowed: the one of the last `Graph::update`, or of the node's
    /// creation.
    [[nodiscard]] cudaEvent_t event() const { return detail::event_of(*this); }
};

/// A node that waits for the work recorded by an event.
///
///     cudag::Event ready;
///     b.kernel(config, step, x, n).after(b.wait(ready));
class WaitNode : public detail::TypedNode<WaitNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::wait_event;
    using TypedNode::TypedNode;

    /// Returns the event that the node waits for, borrowed: the one of the last `Graph::update`, or of the node's
    /// creation.
    [[nodiscard]] cudaEvent_t event() const { return detail::event_of(*this); }
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

    /// Returns the node's signals in order, with borrowed semaphores: those of the last `Graph::update`, or of the
    /// node's creation.
    [[nodiscard]] std::vector<SemaphoreSignal> signals() const { return detail::signals_of(*this); }
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

    /// Returns the node's waits in order, with borrowed semaphores: those of the last `Graph::update`, or of the node's
    /// creation.
    [[nodiscard]] std::vector<SemaphoreWait> waits() const { return detail::waits_of(*this); }
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
