// Nodes for batches of memory operations, which only the driver knows: waits for values, and writes of values.
#include "graph_mem_op_work.hpp"

#include "graph_memory.hpp"
#include "memory/allocations.hpp"
#include "runtime/call.hpp"
#include "runtime/kernel_failure.hpp"
#include "runtime/number_in.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace cudart_cpu::detail {

namespace {

constexpr unsigned most_mem_ops = 255;

bool is_wait(int operation) noexcept {
    return operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}
bool is_write(int operation) noexcept {
    return operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}
bool is_wide(int operation) noexcept {
    return operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

void require_aligned(CUdeviceptr address, std::size_t bytes, unsigned index) {
    if (address % bytes != 0)
        fail(cudaErrorInvalidValue, text("the address of memory operation ", index, " is no multiple of ", bytes));
}

/// Throws for managed memory, memory of pools and graph memory, too, as the driver does (580, H100).
void require_value_at(CUdeviceptr address, std::size_t bytes, unsigned index) {
    const auto* const place = reinterpret_cast<const char*>(address);
    const std::optional<Range> memory = find_allocation(place);
    if (!memory || memory->type == cudaMemoryTypeManaged || memory->base + memory->bytes < place + bytes)
        fail(cudaErrorInvalidValue,
             text("the address of memory operation ", index, " is neither in device memory nor in pinned host memory"));
    const std::optional<AllocationKind> kind = kind_of(place);
    if ((kind && kind->pool) || find_graph_allocation(memory->base))
        fail(cudaErrorInvalidValue, text("the address of memory operation ", index, " is stream-ordered memory"));
}

void require_mem_op(const CUstreamBatchMemOpParams& params, unsigned index) {
    const int operation = number_in(params.operation);
    if (is_wait(operation)) {
        if ((params.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0)
            fail(cudaErrorNotSupported, "the device cannot flush remote writes");
        if (params.waitValue.flags > CU_STREAM_WAIT_VALUE_NOR)
            fail(cudaErrorInvalidValue, text("the flags of memory operation ", index, " name no comparison"));
        require_aligned(params.waitValue.address, is_wide(operation) ? 8 : 4, index);
    } else if (is_write(operation)) {
        if (params.writeValue.flags != 0)
            fail(cudaErrorInvalidValue, text("the flags of memory operation ", index, " are not 0"));
        require_aligned(params.writeValue.address, is_wide(operation) ? 8 : 4, index);
    } else if (operation == CU_STREAM_MEM_OP_BARRIER) {
        if (params.memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
            fail(cudaErrorInvalidValue, text("the flags of memory operation ", index, " name no scope"));
    } else if (operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) {
        fail(cudaErrorNotSupported, "the device cannot flush remote writes");
    } else {
        fail(cudaErrorInvalidValue, text(operation, " is no memory operation"));
    }
}

template <class Value>
Value load_value(CUdeviceptr address) noexcept {
    return std::atomic_ref(*reinterpret_cast<Value*>(address)).load(std::memory_order_acquire);
}
template <class Value>
bool is_met(CUdeviceptr address, Value value, unsigned flags) noexcept {
    const Value found = load_value<Value>(address);
    switch (flags) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return static_cast<Value>(~(found | value)) != 0;
    default: // cyclic
        return static_cast<Value>(found - value) <= static_cast<Value>(~Value{0}) / 2;
    }
}
bool is_met(const CUstreamBatchMemOpParams& params) noexcept {
    const auto& wait = params.waitValue;
    return params.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64
               ? is_met<std::uint64_t>(wait.address, wait.value64, wait.flags)
               : is_met<std::uint32_t>(wait.address, wait.value, wait.flags);
}

void perform_mem_op(const CUstreamBatchMemOpParams& params) {
    const auto& write = params.writeValue;
    if (params.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
        std::atomic_ref(*reinterpret_cast<std::uint32_t*>(write.address)).store(write.value);
    else if (params.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
        std::atomic_ref(*reinterpret_cast<std::uint64_t*>(write.address)).store(write.value64);
    else if (is_wait(params.operation))
        while (!is_met(params) && !has_kernel_failed())
            std::this_thread::sleep_for(std::chrono::microseconds(20));
}

} // namespace

MemOps::MemOps(const CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags) {
    if (flags != 0) fail(cudaErrorInvalidValue, "the flags of a batch of memory operations must be 0");
    if (count > most_mem_ops)
        fail(cudaErrorInvalidValue, text(count, " memory operations; a batch has ", most_mem_ops, " at most"));
    if (count > 0) require_pointer(operations, "paramArray");
    for (unsigned i = 0; i < count; ++i)
        require_mem_op(operations[i], i);
    list_.assign(operations, operations + count);
}

void MemOps::require_memory() const {
    for (unsigned i = 0; i < list_.size(); ++i) {
        const int operation = number_in(list_[i].operation); // a wait has its address at the same place as a write
        if (is_wait(operation) || is_write(operation))
            require_value_at(list_[i].writeValue.address, is_wide(operation) ? 8 : 4, i);
    }
}

void MemOps::run() const {
    for (const CUstreamBatchMemOpParams& each : list_)
        perform_mem_op(each);
}

MemOpWork::MemOpWork(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& params)
    : operations_(params.paramArray, params.count, params.flags), context_(params.ctx) {
    if (context_ == nullptr) fail(cudaErrorDeviceUninitialized, "NULL is not a valid context");
}

std::shared_ptr<const Work> MemOpWork::staged() const {
    operations_.require_memory();
    return std::make_shared<MemOpWork>(*this);
}

CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 MemOpWork::params() const noexcept {
    const auto& list = operations_.list();
    return {context_, static_cast<unsigned>(list.size()), const_cast<CUstreamBatchMemOpParams*>(list.data()), 0};
}

std::string MemOpWork::details() const {
    std::string result = title();
    const char* separator = ": ";
    for (const CUstreamBatchMemOpParams& each : operations_.list()) {
        const auto address = reinterpret_cast<const void*>(each.writeValue.address);
        const std::uint64_t value = is_wide(each.operation) ? each.writeValue.value64 : each.writeValue.value;
        if (is_wait(each.operation)) result += text(separator, "wait for ", value, " at ", address);
        if (is_write(each.operation)) result += text(separator, "write ", value, " at ", address);
        if (each.operation == CU_STREAM_MEM_OP_BARRIER) result += text(separator, "barrier");
        separator = ", ";
    }
    return result;
}

std::optional<Refusal> MemOpWork::refuse_graph_update(const Work& next, bool) const {
    const auto& other = static_cast<const MemOpWork&>(next);
    const auto& before = operations_.list();
    const auto& after = other.operations_.list();
    const auto refusal = [](std::string reason) {
        return Refusal{cudaGraphExecUpdateErrorParametersChanged, std::move(reason)};
    };
    if (context_ != other.context_) return refusal("the context of memory operations cannot change");
    if (before.size() != after.size())
        return refusal(
            text("the number of memory operations cannot change from ", before.size(), " to ", after.size()));
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i].operation != after[i].operation)
            return refusal(text("the type of memory operation ", i, " cannot change"));
        if (before[i].operation == CU_STREAM_MEM_OP_BARRIER &&
            before[i].memoryBarrier.flags != after[i].memoryBarrier.flags)
            return refusal(text("the scope of memory operation ", i, ", a barrier, cannot change"));
    }
    return std::nullopt;
}

} // namespace cudart_cpu::detail
