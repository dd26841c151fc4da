// Batches of copies, unordered among each other.
#include "copy_batch.hpp"

#if CUDART_VERSION >= 12080

#include "capture/capture_rules.hpp"
#include "copy_submit.hpp"
#include "memory/arrays.hpp"
#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <limits>

namespace cudart_cpu::detail {

namespace {

/// Returns the stream; it must not be the legacy default one, nor capture.
Stream& stream_of_batch(cudaStream_t handle) {
    Stream& stream = stream_of(handle);
    if (is_legacy(stream)) fail(cudaErrorInvalidValue, "a batch of copies cannot be in the legacy default stream");
    require_not_capturing_now(stream);
    return stream;
}

/// Calls `each` for every number below `count`; writes the number at which it throws.
template <class Each>
void for_each(std::size_t count, std::size_t* failed, Each&& each) {
    for (std::size_t i = 0; i < count; ++i) {
        if (failed != nullptr) *failed = i;
        each(i);
    }
    if (failed != nullptr) *failed = std::numeric_limits<std::size_t>::max();
}

/// Submits one copy of a batch. Each is validated alone: a GPU performs the copies before a refused one.
void submit(const cudaMemcpy3DParms& copy, int source_order, Stream& stream) {
    validate_copy(copy);
    if (is_empty(copy)) return;
    // A source that may be read at once is read at once, as CUDA may do: this exposes a source that was not ready.
    // Other than pageable memory is always read in the stream's order, as on a GPU: cuda::copy_bytes of CCCL relies on
    // it.
    const bool may_be_early =
        source_order == cudaMemcpySrcAccessOrderAny && source_type(copy) == cudaMemoryTypeUnregistered;
    if (source_order != cudaMemcpySrcAccessOrderDuringApiCall && !may_be_early) {
        enqueue(stream, [copy] { perform_copy(copy); });
    } else {
        enqueue(stream, [packed = PackedSource(copy)] { perform_copy(packed.copy); });
    }
}

/// Returns the operand's pointer. Rows and slices without a given length are as long as the copied box.
cudaPitchedPtr pointer_of(const cudaMemcpy3DOperand& operand, const cudaExtent& extent, std::size_t element) {
    const auto& memory = operand.op.ptr;
    const auto length = [](std::size_t told, std::size_t copied, const char* what) {
        if (told != 0 && told < copied) fail(cudaErrorInvalidValue, text(what, ' ', told, " is less than ", copied));
        return told != 0 ? told : copied;
    };
    const std::size_t row = length(memory.rowLength, extent.width, "row length");
    const std::size_t height = length(memory.layerHeight, extent.height, "layer height");
    return {memory.ptr, row * element, row, height};
}

cudaArray_t array_in(const cudaMemcpy3DOperand& operand) {
    switch (const int type = number_in(operand.type)) {
    case cudaMemcpyOperandTypePointer:
        return nullptr;
    case cudaMemcpyOperandTypeArray:
        static_cast<void>(array_of(operand.op.array.array));
        return operand.op.array.array;
    default:
        fail(cudaErrorInvalidValue, text("operand type ", type, " is unknown"));
    }
}

cudaPos position_in(const cudaMemcpy3DOperand& operand) {
    const cudaOffset3D& offset = operand.op.array.offset;
    return {offset.x, offset.y, offset.z};
}

cudaMemcpy3DParms copy_of(const cudaMemcpy3DBatchOp& operation) {
    cudaMemcpy3DParms copy{};
    copy.extent = operation.extent;
    copy.kind = cudaMemcpyDefault;
    if (is_empty(copy)) fail(cudaErrorInvalidValue, "no side of a copy of a batch is 0");
    copy.srcArray = array_in(operation.src);
    copy.dstArray = array_in(operation.dst);
    const cudaArray_t array = copy.srcArray != nullptr ? copy.srcArray : copy.dstArray;
    const std::size_t element = array != nullptr ? array_of(array)->element_bytes : 1;
    if (copy.srcArray != nullptr)
        copy.srcPos = position_in(operation.src);
    else
        copy.srcPtr = pointer_of(operation.src, operation.extent, element);
    if (copy.dstArray != nullptr)
        copy.dstPos = position_in(operation.dst);
    else
        copy.dstPtr = pointer_of(operation.dst, operation.extent, element);
    return copy;
}

} // namespace

void submit_copies(const CopyBatch& batch, cudaStream_t handle, std::size_t* failed) {
    if (failed != nullptr) *failed = std::numeric_limits<std::size_t>::max();
    Stream& stream = stream_of_batch(handle);
    require_attributes(batch);
    std::size_t attributes = 0;
    for_each(batch.count, failed, [&](std::size_t i) {
        if (attributes + 1 < batch.attribute_count && batch.first_of_attributes[attributes + 1] == i) ++attributes;
        submit(copy_1d(batch.destinations[i], batch.sources[i], batch.sizes[i], cudaMemcpyDefault),
               number_in(batch.attributes[attributes].srcAccessOrder), stream);
    });
}

void submit_copies(const cudaMemcpy3DBatchOp* operations, std::size_t count, unsigned long long flags,
                   cudaStream_t handle, std::size_t* failed) {
    if (failed != nullptr) *failed = std::numeric_limits<std::size_t>::max();
    Stream& stream = stream_of_batch(handle);
    if (flags != 0) fail(cudaErrorInvalidValue, text("the flags of a batch are ", flags, "; they must be 0"));
    if (count > 0) require_pointer(operations, "opList");
    for_each(count, failed, [&](std::size_t i) {
        const cudaMemcpy3DBatchOp& operation = operations[i];
        require_copy_flags(operation.flags);
        submit(copy_of(operation), checked_order(operation.srcAccessOrder), stream);
    });
}

} // namespace cudart_cpu::detail

#endif
