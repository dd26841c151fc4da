// Buffers that own memory: DeviceBuffer on the GPU, PinnedBuffer on the host.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace cudag {

class CapturePool;

namespace detail {

/// Placeholder for an omitted element type.
struct NoElement {};

/// A mistaken argument in place of a count: a range, a pointer, an array.
template <class Count>
concept NoCount = std::is_class_v<Count> || std::is_pointer_v<Count> || std::is_array_v<Count>;

/// Allocates `count * size` bytes on the current device. Returns null for 0 elements. Throws Error if the size
/// overflows or CUDA has no memory, CaptureError if a capture forbids the allocation.
[[nodiscard]] CUDAG_EXPORT std::shared_ptr<void> allocate_device(std::size_t count, std::size_t size,
                                                                 const SourceLocation& where);
/// Allocates `count * size` bytes of page-locked host memory. Returns null and throws like `allocate_device`.
[[nodiscard]] CUDAG_EXPORT std::shared_ptr<void> allocate_pinned(std::size_t count, std::size_t size,
                                                                 const SourceLocation& where);

/// The base class of all buffers: shared memory behind a move-only handle. A moved-from buffer is empty.
template <class Element>
class OwnedMemory {
    static_assert(std::is_trivially_copyable_v<Element> && !std::is_const_v<Element>,
                  "cudag: a buffer holds trivially copyable, non-const elements");

  public:
    using element_type = Element;

    OwnedMemory(OwnedMemory&& other) noexcept
        : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
    OwnedMemory& operator=(OwnedMemory&& other) noexcept {
        memory_ = std::move(other.memory_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    [[nodiscard]] Element* data() const noexcept { return static_cast<Element*>(memory_.get()); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return size_ * sizeof(Element); }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// Returns the shared owner of the memory; null for an empty buffer. A copy of the pointer keeps the memory alive.
    [[nodiscard]] const std::shared_ptr<void>& owner() const noexcept { return memory_; }

  protected:
    OwnedMemory(std::shared_ptr<void> memory, std::size_t size) noexcept : memory_(std::move(memory)), size_(size) {}
    ~OwnedMemory() = default;

  private:
    std::shared_ptr<void> memory_;
    std::size_t size_;
};

} // namespace detail

/// Owns `size()` elements of memory on the device that was current at construction. The elements are uninitialised.
///
///     cudag::DeviceBuffer<float> weights(1000);
///     b.memcpy(weights, host).label("upload");
///     b.kernel(config, scale, weights, 2.0f, 1000);
///
/// Move-only. The end of the memory:
///   - A node or an update that takes the buffer keeps the memory until the last launch that may use it has ended, even
///     if the buffer itself is gone.
///   - Otherwise the memory is freed with the buffer. This waits for the device, as `cudaFree` does.
///   - Memory of a CapturePool goes back to the pool instead, without waiting.
///   - Freeing it while a capture forbids `cudaFree` breaks that capture: the recorded work may still use the memory.
///
/// Threads: const calls may run concurrently. A buffer may be destroyed on a thread other than its maker's.
template <class Element>
class DeviceBuffer : public detail::OwnedMemory<Element> {
  public:
    /// Allocates `count` elements. `count` may be 0: then `data()` is null. Throws Error if CUDA cannot allocate.
    /// Throws CaptureError, and breaks the capture, if a capture forbids the allocation to this thread: see
    /// CaptureMode. A CapturePool allocates during captures.
    explicit DeviceBuffer(std::size_t count, SourceLocation location = SourceLocation::current())
        : detail::OwnedMemory<Element>(detail::allocate_device(count, sizeof(Element), location), count) {}
    template <detail::NoCount Count>
    explicit DeviceBuffer(const Count&) = delete; // cudag: a buffer is made with a count, and filled by copies
    DeviceBuffer(DeviceBuffer&&) noexcept = default;
    DeviceBuffer& operator=(DeviceBuffer&&) noexcept = default;
    DeviceBuffer(const DeviceBuffer&) = delete; // cudag: a DeviceBuffer has one owner: std::move(buffer), or its span()
    DeviceBuffer& operator=(const DeviceBuffer&) = delete; // cudag: a DeviceBuffer has one owner: std::move(buffer)

    /// Returns a view of all elements. It borrows: a node that takes the span does not keep the memory.
    [[nodiscard]] DeviceSpan<Element> span() const noexcept { return {this->data(), this->size()}; }

    Element& operator[](std::size_t) const = delete; // cudag: device memory is not readable on the host

  private:
    friend class CapturePool;
    DeviceBuffer(std::shared_ptr<void> memory, std::size_t count) noexcept
        : detail::OwnedMemory<Element>(std::move(memory), count) {}
};

/// Returns the memory of `buffer` as constant bytes. The span borrows the memory.
template <class Element>
[[nodiscard]] DeviceSpan<const std::byte> as_bytes(const DeviceBuffer<Element>& buffer) noexcept {
    return as_bytes(buffer.span());
}
/// Returns the memory of `buffer` as writable bytes. The span borrows the memory.
template <class Element>
[[nodiscard]] DeviceSpan<std::byte> as_writable_bytes(const DeviceBuffer<Element>& buffer) noexcept {
    return as_writable_bytes(buffer.span());
}

/// Owns `size()` elements of page-locked host memory. Copies to and from the GPU run at full speed and without
/// blocking. The elements are uninitialised.
///
///     cudag::PinnedBuffer<float> input(1000);
///     input[0] = 1.0f;
///     b.memcpy(x, input);
///
/// Move-only. The rules of DeviceBuffer hold for the end of the memory and for threads.
template <class Element>
class PinnedBuffer : public detail::OwnedMemory<Element> {
  public:
    /// Allocates `count` elements. `count` may be 0: then `data()` is null. Throws like the constructor of
    /// DeviceBuffer.
    explicit PinnedBuffer(std::size_t count, SourceLocation location = SourceLocation::current())
        : detail::OwnedMemory<Element>(detail::allocate_pinned(count, sizeof(Element), location), count) {}
    template <detail::NoCount Count>
    explicit PinnedBuffer(const Count&) = delete; // cudag: a buffer is made with a count, and filled by copies
    PinnedBuffer(PinnedBuffer&&) noexcept = default;
    PinnedBuffer& operator=(PinnedBuffer&&) noexcept = default;
    PinnedBuffer(const PinnedBuffer&) = delete; // cudag: a PinnedBuffer has one owner: std::move(buffer), or its span()
    PinnedBuffer& operator=(const PinnedBuffer&) = delete; // cudag: a PinnedBuffer has one owner: std::move(buffer)

    [[nodiscard]] Element* begin() const noexcept { return this->data(); }
    [[nodiscard]] Element* end() const noexcept { return this->data() + this->size(); }
    [[nodiscard]] Element& operator[](std::size_t i) const noexcept { return this->data()[i]; }

    /// Returns a view of all elements. It borrows: a node that takes the span does not keep the memory.
    [[nodiscard]] std::span<Element> span() const noexcept { return {this->data(), this->size()}; }
};

} // namespace cudag
