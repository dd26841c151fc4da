// What views of 2D and 3D memory share: which ranges they can be made of, and where an element lies.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>

#include <driver_types.h>

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace cudag::detail {

/// What a span of memory on side S can be made of: a contiguous range that knows its size.
template <class R, Side S>
concept RangeOfSide =
    (S == Side::host && HostRange<std::remove_reference_t<R>>) ||
    (S == Side::device && (is_device_span<std::remove_cvref_t<R>> || is_device_buffer<std::remove_cvref_t<R>>));

/// Like `outlives_call`, but a buffer does not: a span borrows it.
template <class R>
constexpr void require_borrowed() {
    static_assert(outlives_call<R> && (std::is_lvalue_reference_v<R> || !Buffer<std::remove_cvref_t<R>>),
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
template <class R>
[[nodiscard]] auto* begin_of(R& range, const SpanShape& shape) {
    require_room(std::size(range), sizeof(*std::data(range)), shape);
    return std::data(range);
}

/// `data[x]`, `bytes` bytes further on.
template <class T>
[[nodiscard]] CUDAG_HOST_DEVICE T* element_at(T* data, std::size_t x, std::size_t bytes) noexcept {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + bytes) + x;
}

} // namespace cudag::detail
