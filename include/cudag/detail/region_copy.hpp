// What memcpy2d, memcpy3d and memset2d take: regions of memory or of arrays, and copies with their types erased.
#pragma once

#include <cudag/array_span.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/span_2d.hpp>
#include <cudag/span_3d.hpp>

#include <driver_types.h>

#include <cstddef>
#include <type_traits>

namespace cudag::detail {

/// How many dimensions a region has: 0 for what is none, `any_dimension` for a region of an array.
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
concept RegionArgument = dimensions_of<std::remove_cvref_t<R>> != 0;

template <class R, int Dimensions>
concept RegionOf =
    dimensions_of<std::remove_cvref_t<R>> == Dimensions || dimensions_of<std::remove_cvref_t<R>> == any_dimension;

template <class R>
inline constexpr Side side_of = Side::device;
template <class T>
inline constexpr Side side_of<HostSpan2D<T>> = Side::host;
template <class T>
inline constexpr Side side_of<HostSpan3D<T>> = Side::host;

/// One side of a copy: memory, or an array from `position` on. `pitch` in bytes, the rest in elements.
struct Region {
    void* data;
    cudaArray_t array;
    cudaPos position;
    cudaExtent extent;
    std::size_t pitch;
    std::size_t slice_height;
};

/// A 2D or 3D copy with its types erased.
struct RegionCopy {
    Region destination;
    Region source;
    std::size_t element_bytes;
    cudaMemcpyKind kind;
};

template <class T, Side S>
Region to_region(const Span2D<T, S>& span) noexcept {
    return {const_cast<std::remove_const_t<T>*>(span.data()),
            nullptr,
            {},
            {span.width(), span.height(), 1},
            span.pitch(),
            span.height()};
}
template <class T, Side S>
Region to_region(const Span3D<T, S>& span) noexcept {
    return {const_cast<std::remove_const_t<T>*>(span.data()), nullptr,      {},
            {span.width(), span.height(), span.depth()},      span.pitch(), span.slice_height()};
}
template <class T>
Region to_region(const ArraySpan<T>& span) noexcept {
    return {nullptr, span.array(), span.position(), span.extent(), 0, 0};
}

template <int Dimensions, class D, class S>
constexpr bool require_regions() {
    constexpr bool regions = RegionOf<D, Dimensions> && RegionOf<S, Dimensions>;
    static_assert(regions || Dimensions != 2, "cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan");
    static_assert(regions || Dimensions != 3, "cudag: memcpy3d copies between DeviceSpan3D, HostSpan3D and ArraySpan");
    return regions;
}

/// The same for an update, which tells 2D from 3D by its operands.
template <class D, class S>
constexpr bool require_like_regions() {
    constexpr bool alike = (RegionOf<D, 2> && RegionOf<S, 2>) || (RegionOf<D, 3> && RegionOf<S, 3>);
    static_assert(alike, "cudag: a copy has one dimension, two or three: give both operands the same, or an ArraySpan");
    return alike;
}

/// The copy of `source` to `destination`; the extents are compared later, by whoever can name the node.
template <class D, class S>
RegionCopy region_copy(const D& destination, const S& source) {
    using T = typename D::element_type;
    using U = typename S::element_type;
    static_assert(!std::is_const_v<T>, "cudag: the destination of a memcpy is const");
    static_assert(std::is_same_v<T, std::remove_cv_t<U>>, "cudag: memcpy needs the same element type on both sides");
    static_assert(std::is_trivially_copyable_v<T>, "cudag: memcpy needs trivially copyable elements");
    return {to_region(destination), to_region(source), sizeof(T), copy_kind(side_of<D>, side_of<S>)};
}

template <class D>
constexpr bool require_set_region() {
    static_assert(dimensions_of<std::remove_cvref_t<D>> == 2, "cudag: memset2d fills a DeviceSpan2D");
    return dimensions_of<std::remove_cvref_t<D>> == 2;
}

/// The fill of all of `destination`.
template <class T, Side S, class V>
SetParams region_set(const Span2D<T, S>& destination, const V& value, Owners& owners, const CallSite& call) {
    SetParams set = set_elements<S>(destination.data(), destination.width(), value, owners, call);
    set.height = destination.height();
    set.pitch = destination.pitch();
    return set;
}

} // namespace cudag::detail
