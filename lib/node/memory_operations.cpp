// Nodes of memory operations: waits for values in memory, and writes of values.
#include "memory_operations.hpp"

#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace cudag::detail {

namespace {

constexpr std::uint32_t most_memory_operations = 255;
constexpr unsigned comparison_bits = 3;

static_assert(static_cast<unsigned>(Compare::at_least) == CU_STREAM_WAIT_VALUE_GEQ);
static_assert(static_cast<unsigned>(Compare::equal) == CU_STREAM_WAIT_VALUE_EQ);
static_assert(static_cast<unsigned>(Compare::any_bit_set) == CU_STREAM_WAIT_VALUE_AND);
static_assert(static_cast<unsigned>(Compare::any_bit_clear) == CU_STREAM_WAIT_VALUE_NOR);

CUstreamBatchMemOpParams native_operation(const MemoryOperation& operation) noexcept {
    CUstreamBatchMemOpParams native{};
    const auto address = std::bit_cast<CUdeviceptr>(operation.address);
    const bool is_wide = operation.bytes == 8;
    switch (operation.kind) {
    case MemoryOperationKind::wait_value:
        native.waitValue.operation = is_wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
        native.waitValue.address = address;
        native.waitValue.value64 = operation.value;
        native.waitValue.flags = static_cast<unsigned>(operation.compare) | operation.flags;
        break;
    case MemoryOperationKind::write_value:
        native.writeValue.operation = is_wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
        native.writeValue.address = address;
        native.writeValue.value64 = operation.value;
        native.writeValue.flags = operation.flags;
        break;
    case MemoryOperationKind::barrier:
        native.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
        native.memoryBarrier.flags = operation.flags;
        break;
    case MemoryOperationKind::flush_remote_writes:
        native.flushRemoteWrites.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
        native.flushRemoteWrites.flags = operation.flags;
        break;
    }
    return native;
}

/// Nothing for an operation that cudag does not know.
std::optional<MemoryOperation> operation_of(const CUstreamBatchMemOpParams& native) noexcept {
    MemoryOperation operation;
    const auto& wait = native.waitValue;
    switch (native.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        operation.kind = MemoryOperationKind::wait_value;
        operation.compare = static_cast<Compare>(wait.flags & comparison_bits);
        operation.flags = wait.flags & ~comparison_bits;
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        operation.kind = MemoryOperationKind::write_value;
        operation.flags = native.writeValue.flags;
        break;
    case CU_STREAM_MEM_OP_BARRIER:
        operation.kind = MemoryOperationKind::barrier;
        operation.flags = native.memoryBarrier.flags;
        break;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        operation.kind = MemoryOperationKind::flush_remote_writes;
        operation.flags = native.flushRemoteWrites.flags;
        break;
    default:
        return std::nullopt;
    }
    if (operation.kind == MemoryOperationKind::barrier || operation.kind == MemoryOperationKind::flush_remote_writes) {
        operation.bytes = 0;
        return operation;
    }
    const bool is_wide =
        native.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || native.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operation.bytes = is_wide ? 8 : 4;
    operation.address = std::bit_cast<void*>(wait.address); // both have address and value at the same place
    operation.value = is_wide ? wait.value64 : wait.value;
    return operation;
}

/// Calls `use` with CUDA's parameters of a node.
template <class Use>
NativeResult use_native_operations(const MemoryOperationParams& params, const Use& use) {
    std::vector<CUstreamBatchMemOpParams> operations;
    operations.reserve(params.count);
    for (const MemoryOperation& each : params.list())
        operations.push_back(native_operation(each));
    CUgraphNodeParams native = native_params(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    native.memOp.ctx = params.context;
    native.memOp.count = params.count;
    native.memOp.paramArray = operations.data();
    return use(native);
}

std::string problem_of(const MemoryOperation& operation) {
    if (operation.bytes == 0) {
        const bool has_value = operation.kind <= MemoryOperationKind::write_value;
        return has_value ? "the value has 0 bytes; it has 4 or 8" : std::string();
    }
    if (operation.bytes != 4 && operation.bytes != 8)
        return fmt::format("the value has {} bytes; it has 4 or 8", operation.bytes);
    if (operation.address == nullptr) return "the address is null";
    if (std::bit_cast<std::uintptr_t>(operation.address) % operation.bytes != 0)
        return fmt::format("the address {} is no multiple of the value's {} bytes", operation.address, operation.bytes);
    if (operation.compare > Compare::any_bit_clear)
        return fmt::format("{} is no comparison; use one of cudag::Compare", static_cast<unsigned>(operation.compare));
    if (operation.bytes == 4 && operation.value > UINT32_MAX)
        return fmt::format("the value {} does not fit in 4 bytes", operation.value);
    return {};
}

} // namespace

std::string_view to_string(MemoryOperationKind kind) noexcept {
    constexpr std::string_view names[] = {"wait_value", "write_value", "barrier", "flush_remote_writes"};
    return kind <= MemoryOperationKind::flush_remote_writes ? names[static_cast<unsigned>(kind)] : "unknown";
}

std::string_view to_string(Compare compare) noexcept {
    constexpr std::string_view names[] = {"at_least", "equal", "any_bit_set", "any_bit_clear"};
    return compare <= Compare::any_bit_clear ? names[static_cast<unsigned>(compare)] : "unknown";
}

std::string problem_of(const MemoryOperationParams& params) {
    if (params.count == 0) return "a list of 0 memory operations; leave the node out";
    if (params.count > most_memory_operations)
        return fmt::format("a list of {} memory operations; a node takes {} at most", params.count,
                           most_memory_operations);
    for (std::uint32_t i = 0; i < params.count; ++i)
        if (std::string problem = problem_of(params.operations[i]); !problem.empty())
            return params.count == 1 ? problem : fmt::format("memory operation {} of {}: {}", i, params.count, problem);
    return {};
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const MemoryOperationParams& params) {
    return use_native_operations(params, [&](CUgraphNodeParams& native) { return add_native(node, graph, native); });
}

NativeResult set_native(const NodeTarget& target, const MemoryOperationParams& params) {
    return use_native_operations(params, [&](CUgraphNodeParams& native) { return set_native(target, native); });
}

std::optional<MemoryOperationParams> read_memory_operations(cudaGraphNode_t node, std::pmr::memory_resource& memory) {
    bind_context();
    CUgraphNodeParams native = native_params(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    const CUresult result = driver().graph_node_get_params(node, &native);
    if (result == CUDA_ERROR_NOT_SUPPORTED) return std::nullopt;
    checked_driver<GraphError>(result, getter_of(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP).name);
    const std::uint32_t count = native.memOp.count;
    auto* list =
        static_cast<MemoryOperation*>(memory.allocate(count * sizeof(MemoryOperation), alignof(MemoryOperation)));
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto operation = operation_of(native.memOp.paramArray[i]);
        if (!operation) return std::nullopt;
        list[i] = *operation;
    }
    return MemoryOperationParams{native.memOp.ctx, count, list};
}

void MemoryOperationFields::compare(const MemoryOperationParams& before, const MemoryOperationParams& after,
                                    Differences& found) {
    found.compare("context", static_cast<const void*>(before.context), static_cast<const void*>(after.context),
                  fixed());
    for (std::uint32_t i = 0; i < std::min(before.count, after.count); ++i) {
        Comparison visit(before.operations[i], after.operations[i], found);
        fields(before.operations[i], visit);
    }
}

std::string MemoryOperationFields::refusal(const MemoryOperationParams& current, const MemoryOperationParams& next) {
    for (std::uint32_t i = 0; i < std::min(current.count, next.count); ++i) {
        FirstRefusal visit(current.operations[i], next.operations[i], ChangedBy::instantiate);
        fields(current.operations[i], visit);
        if (std::string reason = std::move(visit).reason(); !reason.empty()) return reason;
    }
    return {};
}

void MemoryOperationFields::add_to(Hash& hash, const MemoryOperationParams& params, HashedFields which) noexcept {
    for (const MemoryOperation& each : params.list())
        if (which == HashedFields::changing) {
            hash.add(static_cast<const void*>(each.address));
            hash.add(each.value);
            hash.add(static_cast<std::uint64_t>(each.compare));
        } else {
            hash.add(static_cast<std::uint64_t>(each.kind) << 32U | each.bytes);
            hash.add(std::uint64_t{each.flags});
        }
}

std::string title(const MemoryOperationParams& params) {
    if (params.count != 1) return fmt::format("{} memory operations", params.count);
    const MemoryOperation& only = params.operations[0];
    if (only.kind == MemoryOperationKind::wait_value)
        return fmt::format("wait_value {} {}", to_string(only.compare), only.value);
    if (only.kind == MemoryOperationKind::write_value) return fmt::format("write_value {}", only.value);
    return std::string(to_string(only.kind));
}

} // namespace cudag::detail
