// What views of 2D and 3D memory share: which ranges they can be made of, and where an element lies.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>

#include <driver_types.h>

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace cudag::detail {

/// What a span of memory on side OnSide can be made of: a contiguous range that knows its size.
template <class Range, Side OnSide>
concept RangeOfSide = (OnSide == Side::host && HostRange<std::remove_reference_t<Range>>) ||
                      (OnSide == Side::device &&
                       (is_device_span<std::remove_cvref_t<Range>> || is_device_buffer<std::remove_cvref_t<Range>>));

/// Like `outlives_call`, but a buffer does not: a span borrows it.
template <class Range>
constexpr void require_borrowed() {
    static_assert(outlives_call<Range> && (std::is_lvalue_reference_v<Range> || !Buffer<std::remove_cvref_t<Range>>),
                  "cudag: a temporary range is gone when the graph runs, and a region only borrows it; pass an lvalue "
                  "that outlives every launch");
}

/// What a span covers: `extent` elements; rows and slices follow each other as `pitch`, in bytes, says.
struct SpanShape {
    cudaExtent extent;
    std::size_t pitch;
};

/// Throws GraphError if a span of this shape has no room in `count` elements.
CUDAG_EXPORT void require_room(std::size_t count, std::size_t element_bytes, const SpanShape& shape);

/// The begin of `range`, in which a span of this shape must have room.
template <class Range>
[[nodiscard]] auto* begin_of(Range& range, const SpanShape& shape) {
    require_room(std::size(range), sizeof(*std::data(range)), shape);
    return std::data(range);
}

/// `data[x]`, `bytes` bytes further on.
template <class Element>
[[nodiscard]] CUDAG_HOST_DEVICE Element* element_at(Element* data, std::size_t x, std::size_t bytes) noexcept {
    using Byte = std::conditional_t<std::is_const_v<Element>, const char, char>;
    return reinterpret_cast<Element*>(reinterpret_cast<Byte*>(data) + bytes) + x;
}

} // namespace cudag::detail
