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
template <class Range>
inline constexpr int dimensions_of = 0;
template <class Element, Side OnSide>
inline constexpr int dimensions_of<Span2D<Element, OnSide>> = 2;
template <class Element, Side OnSide>
inline constexpr int dimensions_of<Span3D<Element, OnSide>> = 3;
inline constexpr int any_dimension = 4;
template <class Element>
inline constexpr int dimensions_of<ArraySpan<Element>> = any_dimension;

/// As deduced by a forwarding reference.
template <class Range>
concept MultiDimensional = dimensions_of<std::remove_cvref_t<Range>> != 0;

template <class Range, int Dimensions>
concept OfDimensions = dimensions_of<std::remove_cvref_t<Range>> == Dimensions ||
                       dimensions_of<std::remove_cvref_t<Range>> == any_dimension;

template <class Range>
inline constexpr Side side_of = Side::device;
template <class Element>
inline constexpr Side side_of<HostSpan2D<Element>> = Side::host;
template <class Element>
inline constexpr Side side_of<HostSpan3D<Element>> = Side::host;

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

template <int Dimensions, class Destination, class Source>
constexpr bool require_dimensions() {
    constexpr bool fits = OfDimensions<Destination, Dimensions> && OfDimensions<Source, Dimensions>;
    static_assert(fits || Dimensions != 2, "cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan");
    static_assert(fits || Dimensions != 3, "cudag: memcpy3d copies between DeviceSpan3D, HostSpan3D and ArraySpan");
    return fits;
}

/// The same for an update, which tells 2D from 3D by its operands.
template <class Destination, class Source>
constexpr bool require_like_dimensions() {
    constexpr bool alike = (OfDimensions<Destination, 2> && OfDimensions<Source, 2>) ||
                           (OfDimensions<Destination, 3> && OfDimensions<Source, 3>);
    static_assert(alike, "cudag: a copy has one dimension, two or three: give both operands the same, or an ArraySpan");
    return alike;
}

/// The copy of `source` to `destination`; the extents are compared later, by whoever can name the node.
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

template <class Destination>
constexpr bool require_2d() {
    static_assert(dimensions_of<std::remove_cvref_t<Destination>> == 2, "cudag: memset2d fills a DeviceSpan2D");
    return dimensions_of<std::remove_cvref_t<Destination>> == 2;
}

/// The fill of all of `destination`.
template <class Element, Side OnSide, class Value>
SetParams set_2d(const Span2D<Element, OnSide>& destination, const Value& value, CallEffects& effects,
                 const CallSite& call) {
    SetParams set = set_elements<OnSide>(destination.data(), destination.width(), value, effects, call);
    set.height = destination.height();
    set.pitch = destination.pitch();
    return set;
}
template <class Element, Side OnSide>
SetParams clear_2d(const Span2D<Element, OnSide>& destination) {
    SetParams set = clear_elements<OnSide>(destination.data(), destination.width());
    set.height = destination.height();
    set.pitch = destination.pitch();
    return set;
}

} // namespace cudag::detail
