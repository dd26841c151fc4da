// Borrowed 3D regions of memory; rows and slices may have padding between them.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/span_shape.hpp>
#include <cudag/side.hpp>
#include <cudag/span.hpp>
#include <cudag/span_2d.hpp>

#include <cstddef>
#include <type_traits>

namespace cudag {

/// A Span3D is a borrowed 3D region: `depth()` slices of `height()` rows of `width()` elements. A row starts `pitch()`
/// bytes after the one before it, a slice `slice_height()` rows after the one before it. DeviceSpan3D is the view of
/// device memory; kernels may use it, also as a parameter. HostSpan3D is the view of host memory. The owner of the
/// memory must outlive every launch that uses it.
///
///     const cudag::DeviceSpan3D<float> device(x, 8, 4, 4);
///     const cudag::HostSpan3D<float> slices(host, 8, 4, 4);
///     b.memcpy3d(device, slices);
template <class Element, Side OnSide>
class Span3D {
  public:
    using element_type = Element;

    constexpr Span3D() noexcept = default;

    /// Makes a region without padding, with a pitch in bytes, or with a pitch and a slice height: the rows from one
    /// slice to the next, padding included.
    CUDAG_HOST_DEVICE constexpr Span3D(Element* data, std::size_t width, std::size_t height, std::size_t depth) noexcept
        : Span3D(data, width, height, depth, width * sizeof(Element)) {}
    CUDAG_HOST_DEVICE constexpr Span3D(Element* data, std::size_t width, std::size_t height, std::size_t depth,
                                       std::size_t pitch) noexcept
        : Span3D(data, width, height, depth, pitch, height) {}
    CUDAG_HOST_DEVICE constexpr Span3D(Element* data, std::size_t width, std::size_t height, std::size_t depth,
                                       std::size_t pitch, std::size_t slice_height) noexcept
        : data_(data), width_(width), height_(height), depth_(depth), pitch_(pitch), slice_height_(slice_height) {}

    /// Makes a region without padding at the beginning of a range: of device memory, such as a DeviceBuffer, for a
    /// DeviceSpan3D; of host memory, such as a vector, for a HostSpan3D. The range is borrowed. Throws GraphError if it
    /// is too small.
    template <detail::RangeOfSide<OnSide> Range>
    Span3D(Range&& range, std::size_t width, std::size_t height, std::size_t depth)
        : Span3D(detail::begin_of(range, {{width, height, depth}, width * sizeof(Element)}), width, height, depth) {
        detail::require_borrowed<Range>();
    }

    /// Converts a span of elements to a span of const elements.
    template <class Other>
    requires std::is_same_v<Element, const Other>
    CUDAG_HOST_DEVICE constexpr Span3D(Span3D<Other, OnSide> other) noexcept
        : Span3D(other.data(), other.width(), other.height(), other.depth(), other.pitch(), other.slice_height()) {}

    [[nodiscard]] CUDAG_HOST_DEVICE constexpr Element* data() const noexcept { return data_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t width() const noexcept { return width_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t height() const noexcept { return height_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t depth() const noexcept { return depth_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t pitch() const noexcept { return pitch_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t slice_height() const noexcept { return slice_height_; }

    /// Returns slice `z` as a 2D region. Precondition: `z < depth()`.
    [[nodiscard]] CUDAG_HOST_DEVICE Span2D<Element, OnSide> slice(std::size_t z) const noexcept {
        return {detail::element_at(data_, 0, offset(0, z)), width_, height_, pitch_};
    }

    /// Returns the region of `width` x `height` x `depth` elements from (x, y, z) on. Precondition: it lies in this
    /// one.
    [[nodiscard]] CUDAG_HOST_DEVICE Span3D subspan(std::size_t x, std::size_t y, std::size_t z, std::size_t width,
                                                   std::size_t height, std::size_t depth) const noexcept {
        return {detail::element_at(data_, x, offset(y, z)), width, height, depth, pitch_, slice_height_};
    }

    /// Returns the element in slice `z`, row `y`, column `x`. The host cannot read device memory.
    [[nodiscard]] CUDAG_HOST_DEVICE Element& operator()(std::size_t x, std::size_t y, std::size_t z) const noexcept {
        return *detail::element_at(data_, x, offset(y, z));
    }

  private:
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t offset(std::size_t y, std::size_t z) const noexcept {
        return (z * slice_height_ + y) * pitch_;
    }

    Element* data_ = nullptr;
    std::size_t width_ = 0;
    std::size_t height_ = 0;
    std::size_t depth_ = 0;
    std::size_t pitch_ = 0;
    std::size_t slice_height_ = 0;
};

template <class Element>
using DeviceSpan3D = Span3D<Element, Side::device>;
template <class Element>
using HostSpan3D = Span3D<Element, Side::host>;

namespace detail {

template <class Element>
inline constexpr bool is_span_parameter<DeviceSpan3D<Element>> = true;

} // namespace detail

} // namespace cudag
