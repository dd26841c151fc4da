// Copies: their checks and their execution.
#include "arrays.hpp"
#include "memory.hpp"
#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <cstring>

namespace cudart_cpu::detail {

namespace {

/// One side of a copy.
struct Operand {
    const char* name;
    cudaArray_t array;
    const cudaPos& position;
    const cudaPitchedPtr& memory;
};

Operand source(const cudaMemcpy3DParms& copy) {
    return {"source", copy.srcArray, copy.srcPos, copy.srcPtr};
}

Operand destination(const cudaMemcpy3DParms& copy) {
    return {"destination", copy.dstArray, copy.dstPos, copy.dstPtr};
}

/// The rows of one side of a copy.
struct Rows {
    char* first;
    std::size_t pitch;
    std::size_t slice;
    std::shared_ptr<Array> array; // kept while its rows are used

    [[nodiscard]] char* at(std::size_t y, std::size_t z) const { return first + z * slice + y * pitch; }
};

/// Returns the rows of one side. Positions and extents count elements of the copy's array; bytes without an array.
Rows rows_of(const Operand& operand, std::size_t element) {
    const cudaPos& at = operand.position;
    if (operand.array == nullptr) {
        const std::size_t pitch = operand.memory.pitch;
        const std::size_t slice = operand.memory.ysize * pitch;
        return {static_cast<char*>(operand.memory.ptr) + at.z * slice + at.y * pitch + at.x * element, pitch, slice,
                nullptr};
    }
    auto array = array_of(operand.array);
    const std::size_t pitch = array->extent.width * array->element_bytes;
    const std::size_t slice = pitch * array->box().height;
    char* first = array->data.get() + at.z * slice + at.y * pitch + at.x * element;
    return {first, pitch, slice, std::move(array)};
}

std::size_t element_bytes(const cudaMemcpy3DParms& copy) {
    const cudaArray_t array = copy.srcArray != nullptr ? copy.srcArray : copy.dstArray;
    return array == nullptr ? 1 : array_of(array)->element_bytes;
}

/// Returns the extent with its width in bytes.
cudaExtent bytes_of(const cudaMemcpy3DParms& copy) {
    return {row_bytes(copy), copy.extent.height, copy.extent.depth};
}

/// Returns the distance from the first to past the last byte touched by the copy.
std::size_t span_bytes(const Rows& rows, const cudaExtent& bytes) {
    return (bytes.depth - 1) * rows.slice + (bytes.height - 1) * rows.pitch + bytes.width;
}

void validate_memory(const Operand& operand, const cudaExtent& bytes, std::size_t element) {
    if (operand.memory.ptr == nullptr) {
        fail(cudaErrorInvalidValue, "Null address specified");
    }
    const bool rows_follow = bytes.height > 1 || bytes.depth > 1;
    const std::size_t begin = operand.position.x * element;
    if (rows_follow && bytes.width > operand.memory.pitch) {
        fail(cudaErrorInvalidPitchValue,
             text(operand.name, " pitch ", operand.memory.pitch, " is less than the width ", bytes.width));
    }
    if (operand.memory.pitch != 0 && begin + bytes.width > operand.memory.pitch) {
        fail(cudaErrorInvalidValue, text(operand.name, " bytes ", begin, " to ", begin + bytes.width,
                                         " leave a row of ", operand.memory.pitch));
    }
    if (operand.position.y > 0 && operand.position.y >= operand.memory.ysize) {
        fail(cudaErrorInvalidValue, text("Invalid Y start position: Must be less than height, for ", operand.name,
                                         " operand: ", operand.position.y, " of ", operand.memory.ysize));
    }
    if (bytes.depth > 1 && operand.position.y + bytes.height > operand.memory.ysize) {
        fail(cudaErrorInvalidValue, text(operand.name, " ysize ", operand.memory.ysize, " is less than the height ",
                                         operand.position.y + bytes.height));
    }
}

void validate_array(const Operand& operand, const cudaExtent& extent) {
    const cudaExtent box = array_of(operand.array)->box();
    const cudaPos& at = operand.position;
    const auto inside = [](std::size_t begin, std::size_t size, std::size_t room) {
        return begin <= room && size <= room - begin;
    };
    if (!inside(at.x, extent.width, box.width) || !inside(at.y, extent.height, box.height) ||
        !inside(at.z, extent.depth, box.depth)) {
        fail(cudaErrorInvalidValue, text("the ", operand.name, " box of (", extent.width, ',', extent.height, ',',
                                         extent.depth, ") at (", at.x, ',', at.y, ',', at.z, ") leaves the array of (",
                                         box.width, ',', box.height, ',', box.depth, ')'));
    }
}

void validate_shape(const Operand& operand, const cudaMemcpy3DParms& copy) {
    if (operand.array == nullptr) {
        return validate_memory(operand, bytes_of(copy), element_bytes(copy));
    }
    if (operand.memory.ptr != nullptr) {
        fail(cudaErrorInvalidValue, text("the ", operand.name, " is both an array and memory"));
    }
    validate_array(operand, copy.extent);
}

/// The host side of a copy may be any memory; the device side must not be pageable memory.
enum class CopySide { host, device };

void validate_range(const Operand& operand, const cudaExtent& bytes, std::size_t element, CopySide side) {
    if (operand.array != nullptr) {
        return;
    }
    const Rows rows = rows_of(operand, element);
    const std::optional<Range> range = find_allocation(rows.first);
    if (!range) {
        if (side == CopySide::device) {
            fail(cudaErrorInvalidValue, text("Allocation not found: ", operand.name, ' ', operand.memory.ptr,
                                             " is no device pointer, but the copy's kind says that it is one"));
        }
        return;
    }
    const auto offset = static_cast<std::size_t>(rows.first - range->base);
    if (span_bytes(rows, bytes) > range->bytes - offset) {
        fail(cudaErrorInvalidValue, text("Copy is larger than memobj size, for ", operand.name, " operand: bytes ",
                                         offset, " to ", offset + span_bytes(rows, bytes), " of ", range->bytes));
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
    fail(cudaErrorInvalidMemcpyDirection, text("copy kind ", number_in(kind), " is unknown"));
}

void copy_rows(const Rows& to, const Rows& from, const cudaExtent& bytes) {
    for (std::size_t z = 0; z < bytes.depth; ++z) {
        for (std::size_t y = 0; y < bytes.height; ++y) {
            std::memcpy(to.at(y, z), from.at(y, z), bytes.width);
        }
    }
}

cudaMemoryType type_of(const Operand& operand) {
    if (operand.array != nullptr) {
        return cudaMemoryTypeDevice;
    }
    const std::optional<Range> range = find_allocation(operand.memory.ptr);
    return range ? range->type : cudaMemoryTypeUnregistered;
}

} // namespace

bool is_empty(const cudaMemcpy3DParms& copy) noexcept {
    return copy.extent.width == 0 || copy.extent.height == 0 || copy.extent.depth == 0;
}

std::size_t row_bytes(const cudaMemcpy3DParms& copy) {
    return copy.extent.width * element_bytes(copy);
}

cudaMemoryType source_type(const cudaMemcpy3DParms& copy) {
    return type_of(source(copy));
}

cudaMemoryType destination_type(const cudaMemcpy3DParms& copy) {
    return type_of(destination(copy));
}

void validate_copy(const cudaMemcpy3DParms& copy) {
    if (is_empty(copy)) {
        return;
    }
    const Sides sides = sides_of(copy.kind);
    if (copy.srcArray != nullptr && copy.dstArray != nullptr &&
        array_of(copy.srcArray)->element_bytes != array_of(copy.dstArray)->element_bytes) {
        fail(cudaErrorInvalidValue, "the arrays have elements of different sizes");
    }
    validate_shape(source(copy), copy);
    validate_shape(destination(copy), copy);
    validate_range(source(copy), bytes_of(copy), element_bytes(copy), sides.source);
    validate_range(destination(copy), bytes_of(copy), element_bytes(copy), sides.destination);
}

void perform_copy(const cudaMemcpy3DParms& copy) {
    if (is_empty(copy)) {
        return;
    }
    copy_rows(rows_of(destination(copy), element_bytes(copy)), rows_of(source(copy), element_bytes(copy)),
              bytes_of(copy));
}

PackedSource::PackedSource(const cudaMemcpy3DParms& original) : copy(original) {
    const cudaExtent bytes = bytes_of(original);
    memory = std::make_shared_for_overwrite<std::byte[]>(bytes.width * bytes.height * bytes.depth);
    copy.srcArray = nullptr;
    copy.srcPos = {};
    copy.srcPtr = {memory.get(), bytes.width, 0, bytes.height};
    copy_rows(rows_of(source(copy), element_bytes(copy)), rows_of(source(original), element_bytes(original)), bytes);
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
