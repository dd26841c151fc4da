// The common parts of 2D and 3D spans: accepted ranges, and addresses of elements.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>

#include <driver_types.h>

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace cudag::detail {

/// A range accepted for a span of memory on side OnSide: contiguous and of known size.
template <class Range, Side OnSide>
concept RangeOfSide = (OnSide == Side::host && HostRange<std::remove_reference_t<Range>>) ||
                      (OnSide == Side::device &&
                       (is_device_span<std::remove_cvref_t<Range>> || is_device_buffer<std::remove_cvref_t<Range>>));

/// Fails to compile if the range may be gone after the call. In contrast to `outlives_call`, a temporary buffer is
/// refused, too: a span borrows.
template <class Range>
constexpr void require_borrowed() {
    static_assert(outlives_call<Range> && (std::is_lvalue_reference_v<Range> || !Buffer<std::remove_cvref_t<Range>>),
                  "cudag: a temporary range is gone when the graph runs, and a region only borrows it; pass an lvalue "
                  "that outlives every launch");
}

/// The shape of a span: `extent` is in elements, `pitch`, the distance between rows, in bytes.
struct SpanShape {
    cudaExtent extent;
    std::size_t pitch;
};

/// Throws GraphError if a span of this shape does not fit into `count` elements.
CUDAG_EXPORT void require_room(std::size_t count, std::size_t element_bytes, const SpanShape& shape);

/// Returns the beginning of `range`. Throws GraphError if a span of this shape does not fit into it.
template <class Range>
[[nodiscard]] auto* begin_of(Range& range, const SpanShape& shape) {
    require_room(std::size(range), sizeof(*std::data(range)), shape);
    return std::data(range);
}

/// Returns the address `bytes` bytes after `data[x]`.
template <class Element>
[[nodiscard]] CUDAG_HOST_DEVICE Element* element_at(Element* data, std::size_t x, std::size_t bytes) noexcept {
    using Byte = std::conditional_t<std::is_const_v<Element>, const char, char>;
    return reinterpret_cast<Element*>(reinterpret_cast<Byte*>(data) + bytes) + x;
}

} // namespace cudag::detail
