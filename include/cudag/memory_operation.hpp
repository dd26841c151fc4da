// Memory operations: nodes that wait for a value in memory, or write one.
#pragma once

#include <cudag/config.hpp>
#include <cudag/typed_node.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace cudag {

/// The comparison of a wait: the node waits until it holds. The values are those of `CUstreamWaitValue_flags`.
enum class Compare : std::uint8_t {
    at_least,      ///< memory - value, as a signed number, is at least 0: counters may wrap around
    equal,         ///< memory == value
    any_bit_set,   ///< (memory & value) != 0
    any_bit_clear, ///< ~(memory | value) != 0; some devices lack it
};

enum class MemoryOperationKind : std::uint8_t {
    wait_value,
    write_value,
    barrier,             ///< a memory barrier; only read from captured nodes, or copied from such
    flush_remote_writes, ///< makes writes of other devices visible; only read from captured nodes, or copied from such
};

/// One operation of a node: CUDA's `CUstreamBatchMemOpParams` with types.
///
///     auto flags = cudag::PinnedBuffer<unsigned>(2);
///     auto node = b.memory_operations({cudag::MemoryOperation::wait(flags.data(), 5U),
///                                      cudag::MemoryOperation::write(flags.data() + 1, 1U)});
///
/// The memory is borrowed: device memory or pinned host memory. CUDA refuses each launch with an operation in managed
/// memory, graph memory or memory of a pool; the graph's own memory then stays in use until a launch succeeds.
struct MemoryOperation {
    MemoryOperationKind kind = MemoryOperationKind::write_value;
    Compare compare = Compare::at_least; ///< of a wait
    unsigned bytes = 4;                  ///< of the value: 4 or 8; 0 for operations without one
    unsigned flags = 0;                  ///< CUDA's other flags: a wait's flush of remote writes, a barrier's scope
    void* address = nullptr;
    std::uint64_t value = 0;

    /// Returns a wait until the number at `address` compares with `value`.
    template <std::integral Number>
    [[nodiscard]] static MemoryOperation wait(const Number* address, std::type_identity_t<Number> value,
                                              Compare compare = Compare::at_least) noexcept {
        return {MemoryOperationKind::wait_value,         compare, bytes_of<Number>(), 0, const_cast<Number*>(address),
                bits_of<std::remove_cv_t<Number>>(value)};
    }
    /// Returns a write of `value` to `address`, after all writes of earlier nodes.
    template <std::integral Number>
    [[nodiscard]] static MemoryOperation write(Number* address, std::type_identity_t<Number> value) noexcept {
        static_assert(!std::is_const_v<Number>, "cudag: a write of a value needs memory that is not const");
        return {MemoryOperationKind::write_value,        {}, bytes_of<Number>(), 0, address,
                bits_of<std::remove_cv_t<Number>>(value)};
    }

    friend bool operator==(const MemoryOperation&, const MemoryOperation&) = default;

  private:
    template <class Number>
    static constexpr unsigned bytes_of() noexcept {
        static_assert(sizeof(Number) == 4 || sizeof(Number) == 8,
                      "cudag: memory operations take integers of 4 or 8 bytes");
        return sizeof(Number);
    }
    template <class Number>
    static constexpr std::uint64_t bits_of(Number value) noexcept {
        return static_cast<std::make_unsigned_t<Number>>(value);
    }
};

namespace detail {

/// Throws GraphError if the handle is empty or dead.
[[nodiscard]] CUDAG_EXPORT std::vector<MemoryOperation> memory_operations_of(const Node& node);

} // namespace detail

/// A node of memory operations, which run in order: waits for values, and writes of values. Such nodes order work with
/// the host, with other devices and with other streams through memory. CUDA does not see this order: express the order
/// of work in one graph by `.after`.
///
///     cudag::PinnedBuffer<unsigned> flag(1);
///     auto ready = b.wait_value(flag, 1U, cudag::Compare::equal);
///     auto work = b.kernel(config, step, x, n).after(ready);
///     b.write_value(flag, 2U).after(work);
///
/// For races, each operation is an atomic access. Inferred dependencies leave these nodes in their place of the
/// program. CUDA allows them in no body of a conditional.
class MemoryOperationNode : public detail::TypedNode<MemoryOperationNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::batch_mem_op;
    using TypedNode::TypedNode;

    /// Returns the node's operations in order: those of the last `Graph::update`, or of the node's creation. Empty for
    /// a captured node that the driver does not describe.
    [[nodiscard]] std::vector<MemoryOperation> operations() const { return detail::memory_operations_of(*this); }
};

} // namespace cudag
