// The operands of memcpy2d, memcpy3d and memset2d: spans of two and three dimensions, and copies without their types.
#pragma once

#include <cudag/array_span.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/span_2d.hpp>
#include <cudag/span_3d.hpp>

#include <driver_types.h>

#include <cstddef>
#include <type_traits>

namespace cudag::detail {

/// The number of dimensions of a span; `any_dimension` for a span of an array, 0 for any other type.
template <class Range>
inline constexpr int dimensions_of = 0;
template <class Element, Side OnSide>
inline constexpr int dimensions_of<Span2D<Element, OnSide>> = 2;
template <class Element, Side OnSide>
inline constexpr int dimensions_of<Span3D<Element, OnSide>> = 3;
inline constexpr int any_dimension = 4;
template <class Element>
inline constexpr int dimensions_of<ArraySpan<Element>> = any_dimension;

/// A span of several dimensions or of an array, as deduced by a forwarding reference.
template <class Range>
concept MultiDimensional = dimensions_of<std::remove_cvref_t<Range>> != 0;

/// A span usable as an operand of this many dimensions.
template <class Range, int Dimensions>
concept OfDimensions = dimensions_of<std::remove_cvref_t<Range>> == Dimensions ||
                       dimensions_of<std::remove_cvref_t<Range>> == any_dimension;

/// The side of a span of several dimensions. Arrays are on the device.
template <class Range>
inline constexpr Side side_of = Side::device;
template <class Element>
inline constexpr Side side_of<HostSpan2D<Element>> = Side::host;
template <class Element>
inline constexpr Side side_of<HostSpan3D<Element>> = Side::host;

/// One side of a copy: memory, or an array from `position` on. `pitch` is in bytes, all else in elements.
struct CopySide {
    void* data;
    cudaArray_t array;
    cudaPos position;
    cudaExtent extent;
    std::size_t pitch;
    std::size_t slice_height;
};

/// A 2D or 3D copy without its types.
struct Copy3D {
    CopySide destination;
    CopySide source;
    std::size_t element_bytes;
    cudaMemcpyKind kind;
};

template <class Element, Side OnSide>
CopySide to_copy_side(const Span2D<Element, OnSide>& span) noexcept {
    return {const_cast<std::remove_const_t<Element>*>(span.data()),
            nullptr,
            {},
            {span.width(), span.height(), 1},
            span.pitch(),
            span.height()};
}
template <class Element, Side OnSide>
CopySide to_copy_side(const Span3D<Element, OnSide>& span) noexcept {
    return {const_cast<std::remove_const_t<Element>*>(span.data()),
            nullptr,
            {},
            {span.width(), span.height(), span.depth()},
            span.pitch(),
            span.slice_height()};
}
template <class Element>
CopySide to_copy_side(const ArraySpan<Element>& span) noexcept {
    return {nullptr, span.array(), span.position(), span.extent(), 0, 0};
}

/// Fails to compile if an operand of a copy has another number of dimensions.
template <int Dimensions, class Destination, class Source>
constexpr bool require_dimensions() {
    constexpr bool fits = OfDimensions<Destination, Dimensions> && OfDimensions<Source, Dimensions>;
    static_assert(fits || Dimensions != 2, "cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan");
    static_assert(fits || Dimensions != 3, "cudag: memcpy3d copies between DeviceSpan3D, HostSpan3D and ArraySpan");
    return fits;
}

/// Fails to compile if the operands of an update differ in dimensions. An update has no number of dimensions in its
/// name.
template <class Destination, class Source>
constexpr bool require_like_dimensions() {
    constexpr bool alike = (OfDimensions<Destination, 2> && OfDimensions<Source, 2>) ||
                           (OfDimensions<Destination, 3> && OfDimensions<Source, 3>);
    static_assert(alike, "cudag: a copy has one dimension, two or three: give both operands the same, or an ArraySpan");
    return alike;
}

/// Returns the copy of `source` to `destination`. The extents are compared later, by a caller that can name the node.
template <class Destination, class Source>
Copy3D copy_3d(const Destination& destination, const Source& source) {
    using Element = typename Destination::element_type;
    using Other = typename Source::element_type;
    static_assert(!std::is_const_v<Element>, "cudag: the destination of a memcpy is const");
    static_assert(std::is_same_v<Element, std::remove_cv_t<Other>>,
                  "cudag: memcpy needs the same element type on both sides");
    static_assert(std::is_trivially_copyable_v<Element>, "cudag: memcpy needs trivially copyable elements");
    return {to_copy_side(destination), to_copy_side(source), sizeof(Element),
            copy_kind(side_of<Destination>, side_of<Source>)};
}

/// Fails to compile if the destination of a memset2d is no span of two dimensions.
template <class Destination>
constexpr bool require_2d() {
    static_assert(dimensions_of<std::remove_cvref_t<Destination>> == 2, "cudag: memset2d fills a DeviceSpan2D");
    return dimensions_of<std::remove_cvref_t<Destination>> == 2;
}

/// Returns the fill of all elements of `destination` with `value`.
template <class Element, Side OnSide, class Value>
SetParams set_2d(const Span2D<Element, OnSide>& destination, const Value& value, CallEffects& effects,
                 const CallSite& call) {
    SetParams set = set_elements<OnSide>(destination.data(), destination.width(), value, effects, call);
    set.height = destination.height();
    set.pitch = destination.pitch();
    return set;
}
/// Returns the fill of all bytes of `destination` with 0.
template <class Element, Side OnSide>
SetParams clear_2d(const Span2D<Element, OnSide>& destination) {
    SetParams set = clear_elements<OnSide>(destination.data(), destination.width());
    set.height = destination.height();
    set.pitch = destination.pitch();
    return set;
}

} // namespace cudag::detail
