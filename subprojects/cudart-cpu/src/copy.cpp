// Copies: the check and the work.
#include "call.hpp"
#include "graph_text.hpp"
#include "memory.hpp"

#include <cstring>

namespace cudart_cpu::detail {

namespace {

/// One side of a copy.
struct Operand {
    const char* name;
    cudaArray_t array;
    const cudaPos& position;
    const cudaPitchedPtr& memory;

    [[nodiscard]] char* begin() const {
        return static_cast<char*>(memory.ptr) + (position.z * memory.ysize + position.y) * memory.pitch + position.x;
    }
};

Operand source(const cudaMemcpy3DParms& copy) {
    return {"source", copy.srcArray, copy.srcPos, copy.srcPtr};
}

Operand destination(const cudaMemcpy3DParms& copy) {
    return {"destination", copy.dstArray, copy.dstPos, copy.dstPtr};
}

bool empty(const cudaExtent& extent) {
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

/// From the first to the last byte that the copy touches.
std::size_t span_bytes(const Operand& operand, const cudaExtent& extent) {
    const std::size_t rows = (extent.depth - 1) * operand.memory.ysize + extent.height - 1;
    return rows * operand.memory.pitch + extent.width;
}

void validate_shape(const Operand& operand, const cudaExtent& extent) {
    if (operand.array != nullptr) {
        fail(cudaErrorNotSupported, "cudart-cpu has no CUDA arrays");
    }
    if (operand.memory.ptr == nullptr) {
        fail(cudaErrorInvalidValue, "Null address specified");
    }
    const bool rows_follow = extent.height > 1 || extent.depth > 1;
    if (rows_follow && operand.position.x + extent.width > operand.memory.pitch) {
        fail(cudaErrorInvalidPitchValue, text(operand.name, " pitch ", operand.memory.pitch, " is less than the width ",
                                              operand.position.x + extent.width));
    }
    if (extent.depth > 1 && operand.position.y + extent.height > operand.memory.ysize) {
        fail(cudaErrorInvalidValue, text(operand.name, " ysize ", operand.memory.ysize, " is less than the height ",
                                         operand.position.y + extent.height));
    }
}

/// Any memory may stand on the host side of a copy, but no pageable memory on the device side.
enum class CopySide { host, device };

void validate_range(const Operand& operand, const cudaExtent& extent, CopySide side) {
    const std::optional<Range> range = find_allocation(operand.begin());
    if (!range) {
        if (side == CopySide::device) {
            fail(cudaErrorInvalidValue, text("Allocation not found: ", operand.name, ' ', operand.memory.ptr,
                                             " is no device pointer, but the copy's kind says that it is one"));
        }
        return;
    }
    const auto offset = static_cast<std::size_t>(operand.begin() - range->base);
    if (span_bytes(operand, extent) > range->bytes - offset) {
        fail(cudaErrorInvalidValue, text("Copy is larger than memobj size, for ", operand.name, " operand: bytes ",
                                         offset, " to ", offset + span_bytes(operand, extent), " of ", range->bytes));
    }
}

struct Sides {
    CopySide source;
    CopySide destination;
};

Sides sides_of(cudaMemcpyKind kind) {
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return {CopySide::host, CopySide::host};
    case cudaMemcpyHostToDevice:
        return {CopySide::host, CopySide::device};
    case cudaMemcpyDeviceToHost:
        return {CopySide::device, CopySide::host};
    case cudaMemcpyDeviceToDevice:
        return {CopySide::device, CopySide::device};
    }
    fail(cudaErrorInvalidMemcpyDirection, text("copy kind ", static_cast<int>(kind), " is unknown"));
}

} // namespace

void validate_copy(const cudaMemcpy3DParms& copy) {
    if (empty(copy.extent)) {
        return;
    }
    const Sides sides = sides_of(copy.kind);
    validate_shape(source(copy), copy.extent);
    validate_shape(destination(copy), copy.extent);
    validate_range(source(copy), copy.extent, sides.source);
    validate_range(destination(copy), copy.extent, sides.destination);
}

void perform_copy(const cudaMemcpy3DParms& copy) {
    if (empty(copy.extent)) {
        return;
    }
    const char* from = source(copy).begin();
    char* to = destination(copy).begin();
    for (std::size_t z = 0; z < copy.extent.depth; ++z) {
        for (std::size_t y = 0; y < copy.extent.height; ++y) {
            std::memcpy(to + (z * copy.dstPtr.ysize + y) * copy.dstPtr.pitch,
                        from + (z * copy.srcPtr.ysize + y) * copy.srcPtr.pitch, copy.extent.width);
        }
    }
}

cudaMemcpy3DParms copy_1d(void* dst, const void* src, std::size_t bytes, cudaMemcpyKind kind) {
    return copy_2d(dst, bytes, src, bytes, bytes, 1, kind);
}

cudaMemcpy3DParms copy_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                          std::size_t height, cudaMemcpyKind kind) {
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {const_cast<void*>(src), src_pitch, width, height};
    copy.dstPtr = {dst, dst_pitch, width, height};
    copy.extent = {width, height, 1};
    copy.kind = kind;
    return copy;
}

} // namespace cudart_cpu::detail
