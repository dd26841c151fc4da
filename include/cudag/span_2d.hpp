// Borrowed 2D regions of memory; rows may have padding between them.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/span_shape.hpp>
#include <cudag/side.hpp>
#include <cudag/span.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace cudag {

/// A Span2D is a borrowed 2D region: `height()` rows of `width()` elements, each starting `pitch()` bytes after the one
/// before it. DeviceSpan2D is the view of device memory; kernels may use it, also as a parameter. HostSpan2D is the
/// view of host memory. The owner of the memory must outlive every launch that uses it.
///
///     const cudag::DeviceSpan2D<float> device(x, 16, 8);
///     const cudag::HostSpan2D<float> rows(host, 16, 8);
///     b.memcpy2d(device, rows);
template <class Element, Side OnSide>
class Span2D {
  public:
    using element_type = Element;

    constexpr Span2D() noexcept = default;

    /// Makes a region of rows without padding, or with a pitch in bytes.
    CUDAG_HOST_DEVICE constexpr Span2D(Element* data, std::size_t width, std::size_t height) noexcept
        : Span2D(data, width, height, width * sizeof(Element)) {}
    CUDAG_HOST_DEVICE constexpr Span2D(Element* data, std::size_t width, std::size_t height, std::size_t pitch) noexcept
        : data_(data), width_(width), height_(height), pitch_(pitch) {}

    /// Makes a region at the beginning of a range: of device memory, such as a DeviceBuffer, for a DeviceSpan2D; of
    /// host memory, such as a vector, for a HostSpan2D. The range is borrowed. Rows have no padding, or a pitch in
    /// bytes. Throws GraphError if the range is too small.
    template <detail::RangeOfSide<OnSide> Range>
    Span2D(Range&& range, std::size_t width, std::size_t height)
        : Span2D(std::forward<Range>(range), width, height, width * sizeof(Element)) {}
    template <detail::RangeOfSide<OnSide> Range>
    Span2D(Range&& range, std::size_t width, std::size_t height, std::size_t pitch)
        : Span2D(detail::begin_of(range, {{width, height, 1}, pitch}), width, height, pitch) {
        detail::require_borrowed<Range>();
    }

    /// Converts a span of elements to a span of const elements.
    template <class Other>
    requires std::is_same_v<Element, const Other>
    CUDAG_HOST_DEVICE constexpr Span2D(Span2D<Other, OnSide> other) noexcept
        : Span2D(other.data(), other.width(), other.height(), other.pitch()) {}

    [[nodiscard]] CUDAG_HOST_DEVICE constexpr Element* data() const noexcept { return data_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t width() const noexcept { return width_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t height() const noexcept { return height_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t pitch() const noexcept { return pitch_; }

    /// Returns the region of `width` x `height` elements from (x, y) on. Precondition: it lies in this one.
    [[nodiscard]] CUDAG_HOST_DEVICE Span2D subspan(std::size_t x, std::size_t y, std::size_t width,
                                                   std::size_t height) const noexcept {
        return {detail::element_at(data_, x, y * pitch_), width, height, pitch_};
    }

    /// Returns the element in row `y`, column `x`. The host cannot read device memory.
    [[nodiscard]] CUDAG_HOST_DEVICE Element& operator()(std::size_t x, std::size_t y) const noexcept {
        return *detail::element_at(data_, x, y * pitch_);
    }

  private:
    Element* data_ = nullptr;
    std::size_t width_ = 0;
    std::size_t height_ = 0;
    std::size_t pitch_ = 0;
};

template <class Element>
using DeviceSpan2D = Span2D<Element, Side::device>;
template <class Element>
using HostSpan2D = Span2D<Element, Side::host>;

namespace detail {

template <class Element>
inline constexpr bool is_span_parameter<DeviceSpan2D<Element>> = true;

} // namespace detail

} // namespace cudag
