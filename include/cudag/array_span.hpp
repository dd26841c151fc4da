// A borrowed region of a CUDA array.
#pragma once

#include <cudag/config.hpp>

#include <driver_types.h>

#include <cstddef>
#include <type_traits>

namespace cudag {

namespace detail {

/// Returns the extent of `array` in elements, with 1 for each missing dimension. Throws GraphError if it is null or its
/// elements do not have `element_bytes` bytes.
[[nodiscard]] CUDAG_EXPORT cudaExtent array_extent(cudaArray_const_t array, std::size_t element_bytes);
CUDAG_EXPORT void require_within(const cudaExtent& whole, const cudaPos& from, const cudaExtent& part);

} // namespace detail

/// An ArraySpan is a borrowed region of a CUDA array: `width()` x `height()` x `depth()` elements from (x, y, z) on.
/// The array is opaque device memory: copies and textures reach it, kernels do not. The array must outlive every launch
/// that uses it. Host-only.
///
///     cudaArray_t array = nullptr;
///     const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
///     cudag::check(cudaMallocArray(&array, &format, 16, 8));
///     b.memcpy2d(cudag::ArraySpan<float>(array), cudag::DeviceSpan2D<float>(x, 16, 8));
template <class Element>
class ArraySpan {
  public:
    using element_type = Element;

    /// Makes a span of all of `array`; height and depth are 1 if it has fewer dimensions or layers. Throws GraphError
    /// if `array` is null or the sizes of its elements and of Element differ.
    explicit ArraySpan(cudaArray_t array) : ArraySpan(array, {}, detail::array_extent(array, sizeof(Element))) {}

    /// Converts a span of elements to a span of const elements.
    template <class Other>
    requires std::is_same_v<Element, const Other>
    ArraySpan(const ArraySpan<Other>& other) noexcept : ArraySpan(other.array(), other.position(), other.extent()) {}

    [[nodiscard]] cudaArray_t array() const noexcept { return array_; }
    [[nodiscard]] const cudaPos& position() const noexcept { return from_; }
    [[nodiscard]] const cudaExtent& extent() const noexcept { return extent_; }
    [[nodiscard]] std::size_t width() const noexcept { return extent_.width; }
    [[nodiscard]] std::size_t height() const noexcept { return extent_.height; }
    [[nodiscard]] std::size_t depth() const noexcept { return extent_.depth; }

    /// Returns the region of `width` x `height` elements from (x, y) on, in the first slice or layer. Throws GraphError
    /// if it does not lie in this one.
    [[nodiscard]] ArraySpan subspan(std::size_t x, std::size_t y, std::size_t width, std::size_t height) const {
        return subspan(x, y, 0, width, height, 1);
    }
    /// Returns the region of `width` x `height` x `depth` elements from (x, y, z) on. Throws GraphError if it does not
    /// lie in this one.
    [[nodiscard]] ArraySpan subspan(std::size_t x, std::size_t y, std::size_t z, std::size_t width, std::size_t height,
                                    std::size_t depth) const {
        detail::require_within(extent_, {x, y, z}, {width, height, depth});
        return {array_, {from_.x + x, from_.y + y, from_.z + z}, {width, height, depth}};
    }

  private:
    template <class Other>
    friend class ArraySpan;
    ArraySpan(cudaArray_t array, const cudaPos& from, const cudaExtent& extent) noexcept
        : array_(array), from_(from), extent_(extent) {}

    cudaArray_t array_;
    cudaPos from_;
    cudaExtent extent_;
};

} // namespace cudag
