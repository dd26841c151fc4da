// Checks of spans of memory and arrays at construction.
#include <cudag/array_span.hpp>
#include <cudag/detail/span_shape.hpp>

#include "cuda/failure.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

std::string text_of(const cudaExtent& extent) {
    return fmt::format("{} x {} x {}", extent.width, extent.height, extent.depth);
}

bool fits(std::size_t bytes, std::size_t element_bytes, const SpanShape& shape) {
    const auto [width, height, depth] = shape.extent;
    if (width == 0 || height == 0 || depth == 0) return true;
    std::size_t row = 0;
    std::size_t rows = 0;
    std::size_t before_last = 0;
    std::size_t end = 0;
    return !__builtin_mul_overflow(width, element_bytes, &row) && !__builtin_mul_overflow(height, depth, &rows) &&
           !__builtin_mul_overflow(rows - 1, shape.pitch, &before_last) &&
           !__builtin_add_overflow(before_last, row, &end) && end <= bytes;
}

} // namespace

void require_room(std::size_t count, std::size_t element_bytes, const SpanShape& shape) {
    if (!fits(count * element_bytes, element_bytes, shape))
        refuse(
            fmt::format("a region of {} elements with a pitch of {} bytes does not fit into a range of {} elements of "
                        "{} bytes",
                        text_of(shape.extent), shape.pitch, count, element_bytes));
}

cudaExtent array_extent(cudaArray_const_t array, std::size_t element_bytes) {
    const Subject subject{"ArraySpan"};
    if (array == nullptr) refuse("the array is null", subject);
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    const cudaError_t status =
        cudaArrayGetInfo(&format, &extent, &flags, const_cast<cudaArray_t>(array)); // read only, despite its type
    if (status != cudaSuccess) raise_call<GraphError>(status, "cudaArrayGetInfo", subject);
    const auto bytes = static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
    if (bytes != element_bytes)
        refuse(fmt::format("the array's elements have {} bytes, the span's type {}; use a type of the same size", bytes,
                           element_bytes),
               subject);
    if (extent.height == 0) extent.height = 1;
    if (extent.depth == 0) extent.depth = 1;
    return extent;
}

void require_within(const cudaExtent& whole, const cudaPos& from, const cudaExtent& part) {
    const auto inside = [](std::size_t size, std::size_t begin, std::size_t count) {
        return begin <= size && count <= size - begin;
    };
    if (inside(whole.width, from.x, part.width) && inside(whole.height, from.y, part.height) &&
        inside(whole.depth, from.z, part.depth))
        return;
    refuse(fmt::format("{} elements at ({}, {}, {}) are not within {}", text_of(part), from.x, from.y, from.z,
                       text_of(whole)),
           {"ArraySpan"});
}

} // namespace cudag::detail
