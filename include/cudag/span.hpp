// A borrowed range of device memory.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <type_traits>

namespace cudag {

template <class Element>
class DeviceBuffer;

/// A DeviceSpan is a borrowed range of device memory: `size()` elements at `data()`. The owner of the memory must
/// outlive every launch that uses it. Kernels may use a span, also as a parameter.
///
///     b.memset(x.span().first(128), 1.0f);
///     b.memset(x.span().subspan(128), 2.0f);
template <class Element>
class DeviceSpan {
  public:
    using element_type = Element;
    using value_type = std::remove_cv_t<Element>;

    constexpr DeviceSpan() noexcept = default;
    CUDAG_HOST_DEVICE constexpr DeviceSpan(Element* data, std::size_t size) noexcept : data_(data), size_(size) {}
    explicit DeviceSpan(Element*) = delete; // cudag: a DeviceSpan has a length: DeviceSpan(pointer, count)
    DeviceSpan(const DeviceBuffer<value_type>&) = delete; // cudag: a DeviceSpan of a buffer is its span()

    /// Converts a span of elements to a span of const elements.
    template <class Other>
    requires std::is_same_v<Element, const Other>
    CUDAG_HOST_DEVICE constexpr DeviceSpan(DeviceSpan<Other> other) noexcept
        : data_(other.data()), size_(other.size()) {}

    [[nodiscard]] CUDAG_HOST_DEVICE constexpr Element* data() const noexcept { return data_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr std::size_t size_bytes() const noexcept {
        return size_ * sizeof(Element);
    }
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr bool empty() const noexcept { return size_ == 0; }

    /// Returns `count` elements from `offset` on. Precondition: `offset + count <= size()`.
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr DeviceSpan subspan(std::size_t offset, std::size_t count) const noexcept {
        return {data_ + offset, count};
    }
    /// Returns all elements from `offset` on. Precondition: `offset <= size()`.
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr DeviceSpan subspan(std::size_t offset) const noexcept {
        return {data_ + offset, size_ - offset};
    }
    /// Returns the first `count` elements. Precondition: `count <= size()`.
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr DeviceSpan first(std::size_t count) const noexcept {
        return {data_, count};
    }
    /// Returns the last `count` elements. Precondition: `count <= size()`.
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr DeviceSpan last(std::size_t count) const noexcept {
        return {data_ + (size_ - count), count};
    }

    /// Returns element `i`. Device code only: the host cannot read the memory.
    [[nodiscard]] CUDAG_HOST_DEVICE constexpr Element& operator[](std::size_t i) const noexcept { return data_[i]; }

  private:
    Element* data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

/// True if a kernel parameter of type Parameter is a range of memory, beginning with its address.
template <class Parameter>
inline constexpr bool is_span_parameter = false;
template <class Element>
inline constexpr bool is_span_parameter<DeviceSpan<Element>> = true;

} // namespace detail

/// Returns the memory of `span` as read-only bytes.
template <class Element>
[[nodiscard]] constexpr DeviceSpan<const std::byte> as_bytes(DeviceSpan<Element> span) noexcept {
    return {reinterpret_cast<const std::byte*>(span.data()), span.size_bytes()};
}
/// Returns the memory of `span` as writable bytes.
template <class Element>
requires(!std::is_const_v<Element>)
[[nodiscard]] constexpr DeviceSpan<std::byte> as_writable_bytes(DeviceSpan<Element> span) noexcept {
    return {reinterpret_cast<std::byte*>(span.data()), span.size_bytes()};
}

} // namespace cudag
