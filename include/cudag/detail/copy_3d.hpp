// What memcpy2d, memcpy3d and memset2d take: spans of two and three dimensions, and copies with their types erased.
#pragma once

#include <cudag/array_span.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/span_2d.hpp>
#include <cudag/span_3d.hpp>

#include <driver_types.h>

#include <cstddef>
#include <type_traits>

namespace cudag::detail {

/// How many dimensions a span has: 0 for what is none of these, `any_dimension` for one of an array.
template <class R>
inline constexpr int dimensions_of = 0;
template <class T, Side S>
inline constexpr int dimensions_of<Span2D<T, S>> = 2;
template <class T, Side S>
inline constexpr int dimensions_of<Span3D<T, S>> = 3;
inline constexpr int any_dimension = 4;
template <class T>
inline constexpr int dimensions_of<ArraySpan<T>> = any_dimension;

/// As deduced by a forwarding reference.
template <class R>
concept MultiDimensional = dimensions_of<std::remove_cvref_t<R>> != 0;

template <class R, int Dimensions>
concept OfDimensions =
    dimensions_of<std::remove_cvref_t<R>> == Dimensions || dimensions_of<std::remove_cvref_t<R>> == any_dimension;

template <class R>
inline constexpr Side side_of = Side::device;
template <class T>
inline constexpr Side side_of<HostSpan2D<T>> = Side::host;
template <class T>
inline constexpr Side side_of<HostSpan3D<T>> = Side::host;

/// One side of a copy: memory, or an array from `position` on. `pitch` in bytes, the rest in elements.
struct CopySide {
    void* data;
    cudaArray_t array;
    cudaPos position;
    cudaExtent extent;
    std::size_t pitch;
    std::size_t slice_height;
};

/// A 2D or 3D copy with its types erased.
struct Copy3D {
    CopySide destination;
    CopySide source;
    std::size_t element_bytes;
    cudaMemcpyKind kind;
};

template <class T, Side S>
CopySide to_copy_side(const Span2D<T, S>& span) noexcept {
    return {const_cast<std::remove_const_t<T>*>(span.data()),
            nullptr,
            {},
            {span.width(), span.height(), 1},
            span.pitch(),
            span.height()};
}
template <class T, Side S>
CopySide to_copy_side(const Span3D<T, S>& span) noexcept {
    return {const_cast<std::remove_const_t<T>*>(span.data()), nullptr,      {},
            {span.width(), span.height(), span.depth()},      span.pitch(), span.slice_height()};
}
template <class T>
CopySide to_copy_side(const ArraySpan<T>& span) noexcept {
    return {nullptr, span.array(), span.position(), span.extent(), 0, 0};
}

template <int Dimensions, class D, class S>
constexpr bool require_dimensions() {
    constexpr bool fits = OfDimensions<D, Dimensions> && OfDimensions<S, Dimensions>;
    static_assert(fits || Dimensions != 2, "cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan");
    static_assert(fits || Dimensions != 3, "cudag: memcpy3d copies between DeviceSpan3D, HostSpan3D and ArraySpan");
    return fits;
}

/// The same for an update, which tells 2D from 3D by its operands.
template <class D, class S>
constexpr bool require_like_dimensions() {
    constexpr bool alike = (OfDimensions<D, 2> && OfDimensions<S, 2>) || (OfDimensions<D, 3> && OfDimensions<S, 3>);
    static_assert(alike, "cudag: a copy has one dimension, two or three: give both operands the same, or an ArraySpan");
    return alike;
}

/// The copy of `source` to `destination`; the extents are compared later, by whoever can name the node.
template <class D, class S>
Copy3D copy_3d(const D& destination, const S& source) {
    using T = typename D::element_type;
    using U = typename S::element_type;
    static_assert(!std::is_const_v<T>, "cudag: the destination of a memcpy is const");
    static_assert(std::is_same_v<T, std::remove_cv_t<U>>, "cudag: memcpy needs the same element type on both sides");
    static_assert(std::is_trivially_copyable_v<T>, "cudag: memcpy needs trivially copyable elements");
    return {to_copy_side(destination), to_copy_side(source), sizeof(T), copy_kind(side_of<D>, side_of<S>)};
}

template <class D>
constexpr bool require_2d() {
    static_assert(dimensions_of<std::remove_cvref_t<D>> == 2, "cudag: memset2d fills a DeviceSpan2D");
    return dimensions_of<std::remove_cvref_t<D>> == 2;
}

/// The fill of all of `destination`.
template <class T, Side S, class V>
SetParams set_2d(const Span2D<T, S>& destination, const V& value, CallEffects& effects, const CallSite& call) {
    SetParams set = set_elements<S>(destination.data(), destination.width(), value, effects, call);
    set.height = destination.height();
    set.pitch = destination.pitch();
    return set;
}

} // namespace cudag::detail
