// Memory operations: the calls of GraphBuilder that wait for values in memory, and write values.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/memory_operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/memory_operation.hpp>
#include <cudag/source_location.hpp>

#include <initializer_list>
#include <span>
#include <utility>

namespace cudag::detail {

/// The calls that add memory operations.
///
///     cudag::PinnedBuffer<unsigned> flag(1);
///     auto ready = b.wait_value(flag, 1U, cudag::Compare::equal);
///     b.write_value(flag, 2U).after(b.kernel(config, step, x, n).after(ready));
template <class Self>
class MemoryOperationCalls {
  public:
    /// Adds a node that waits until the number in `memory` compares with `value`. `memory` is a pointer, or a buffer,
    /// span or shared_ptr of exactly one integer of 4 or 8 bytes, in device or pinned host memory; buffers are kept,
    /// the rest is borrowed. A wait blocks the nodes after it, and the launch with them. Throws GraphError if the
    /// address is null or not aligned, for managed memory, graph memory and memory of a pool, and in the body of a
    /// conditional.
    template <class Memory, class Value>
    MemoryOperationNode wait_value( // cudag: wait_value(memory, value, cudag::Compare::equal)
        Memory&& memory, const Value& value, Compare compare = Compare::at_least,
        SourceLocation location = SourceLocation::current()) {
        if constexpr (require_number<Memory, Value, false>()) {
            Owners owners;
            const auto* place = place_of(memory, owners);
            const MemoryOperation operation =
                MemoryOperation::wait(place, static_cast<NumberIn<Memory>>(value), compare);
            return add({&operation, 1}, std::move(owners), location);
        }
        return {};
    }

    /// Adds a node that writes `value` to the number in `memory`, which later work, the host and other devices can
    /// await. Takes the memory of `wait_value`, and throws as it does.
    template <class Memory, class Value>
    MemoryOperationNode write_value( // cudag: write_value(memory, value)
        Memory&& memory, const Value& value, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_number<Memory, Value, true>()) {
            Owners owners;
            auto* place = place_of(memory, owners);
            const MemoryOperation operation = MemoryOperation::write(place, static_cast<NumberIn<Memory>>(value));
            return add({&operation, 1}, std::move(owners), location);
        }
        return {};
    }

    /// Adds one node with several operations, which run in order: 1 to 255. Throws as `wait_value` does.
    MemoryOperationNode memory_operations(std::span<const MemoryOperation> operations,
                                          SourceLocation location = SourceLocation::current()) {
        return add(operations, {}, location);
    }
    MemoryOperationNode memory_operations(std::initializer_list<MemoryOperation> operations,
                                          SourceLocation location = SourceLocation::current()) {
        return add({operations.begin(), operations.size()}, {}, location);
    }

  private:
    MemoryOperationNode add(std::span<const MemoryOperation> operations, Owners&& owners,
                            const SourceLocation& location) {
        return MemoryOperationNode(Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                                       return add_memory_operations(graph, operations, std::move(owners), location);
                                   }));
    }

    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace cudag::detail
