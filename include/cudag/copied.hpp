// copied(): host values stored with a memcpy node or a captured copy.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/host_copy_release.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/passkey.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace cudag {

/// An immutable copy of a host range, the result of `copied`.
template <class Element>
class HostCopy {
  public:
    HostCopy(detail::Passkey, const Element* from, std::size_t size)
        : values_(std::make_unique<Element[]>(size)), size_(size) {
        std::copy_n(from, size, values_.get());
    }

    /// Returns the address of the first of `size()` elements.
    [[nodiscard]] const Element* data() const noexcept { return values_.get(); }
    /// Returns the number of elements.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

  private:
    std::unique_ptr<Element[]> values_;
    std::size_t size_;
};

/// Copies the present values of `range`, a contiguous range of host memory, as the source of a memcpy. The graph keeps
/// the copy, so `range` may change or end after the call.
///
///     cudag::DeviceBuffer<int> device_sizes(3);
///     cudag::Graph copies = cudag::capture(stream, [&](cudaStream_t s) {
///         const std::vector<int> sizes{7, 11, 13};
///         cudag::memcpy_async(s, device_sizes, cudag::copied(sizes)); // `sizes` is gone before the first replay
///     });
///
/// Without `copied`, host memory is borrowed, and a copy reads it anew at each launch of the graph.
template <class Range>
[[nodiscard]] auto copied(const Range& range) {
    static_assert(detail::HostRange<const Range>, "cudag: copied() takes a contiguous range of host memory");
    using Element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(range))>>;
    static_assert(std::is_trivially_copyable_v<Element>, "cudag: memcpy needs trivially copyable elements");
    using Copy = const HostCopy<Element>;
    auto copy = std::make_unique<Copy>(detail::Passkey(), std::data(range), std::size(range));
    const detail::HostCopyRelease release{copy->data(), copy->size() * sizeof(Element),
                                          [](const void* gone) noexcept { delete static_cast<Copy*>(gone); }};
    return std::shared_ptr<Copy>(copy.release(), release);
}

} // namespace cudag
