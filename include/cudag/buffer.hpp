// Owned memory: DeviceBuffer on the GPU, PinnedBuffer on the host.
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

/// Stands for the type of the elements where that was left out.
struct NoElement {};

/// What is given by mistake instead of a count: a range, a pointer, ...
template <class Count>
concept NoCount = std::is_class_v<Count> || std::is_pointer_v<Count> || std::is_array_v<Count>;

/// `count * size` bytes; throws Error if that overflows or CUDA has no memory. Null for 0 elements.
[[nodiscard]] CUDAG_EXPORT std::shared_ptr<void> allocate_device(std::size_t count, std::size_t size,
                                                                 const SourceLocation& where);
[[nodiscard]] CUDAG_EXPORT std::shared_ptr<void> allocate_pinned(std::size_t count, std::size_t size,
                                                                 const SourceLocation& where);

/// What both buffers are: shared memory behind a move-only handle. A moved-from buffer is empty.
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

    /// What keeps the memory alive.
    [[nodiscard]] const std::shared_ptr<void>& owner() const noexcept { return memory_; }

  protected:
    OwnedMemory(std::shared_ptr<void> memory, std::size_t size) noexcept : memory_(std::move(memory)), size_(size) {}
    ~OwnedMemory() = default;

  private:
    std::shared_ptr<void> memory_;
    std::size_t size_;
};

} // namespace detail

/// `size()` uninitialised elements of device memory of the current device.
/// Threads: const calls may run at once; a buffer may go on another thread than the one that made it.
/// Move-only. Given to a node or an update, the memory is kept until the last launch that may use it has ended, also
/// when the buffer itself is gone. Otherwise freed with the buffer, which waits for the device as `cudaFree` does, or
/// given back to the CapturePool that it came from, which does not wait. Freed while a capture forbids `cudaFree`, it
/// breaks that capture: what was recorded may still use the memory.
template <class Element>
class DeviceBuffer : public detail::OwnedMemory<Element> {
  public:
    /// `count` may be 0: then `data()` is null. Throws Error if CUDA cannot allocate, CaptureError if a capture forbids
    /// it: of this thread unless relaxed, or a global one. That capture is broken then; a CapturePool allocates in it.
    explicit DeviceBuffer(std::size_t count, SourceLocation location = SourceLocation::current())
        : detail::OwnedMemory<Element>(detail::allocate_device(count, sizeof(Element), location), count) {}
    template <detail::NoCount Count>
    explicit DeviceBuffer(const Count&) = delete; // cudag: a buffer is made with a count, and filled by copies
    DeviceBuffer(DeviceBuffer&&) noexcept = default;
    DeviceBuffer& operator=(DeviceBuffer&&) noexcept = default;
    DeviceBuffer(const DeviceBuffer&) = delete; // cudag: a DeviceBuffer has one owner: std::move(buffer), or its span()
    DeviceBuffer& operator=(const DeviceBuffer&) = delete; // cudag: a DeviceBuffer has one owner: std::move(buffer)

    /// Borrows: a node that is given the span does not keep the memory.
    [[nodiscard]] DeviceSpan<Element> span() const noexcept { return {this->data(), this->size()}; }

    Element& operator[](std::size_t) const = delete; // cudag: device memory is not readable on the host

  private:
    friend class CapturePool;
    DeviceBuffer(std::shared_ptr<void> memory, std::size_t count) noexcept
        : detail::OwnedMemory<Element>(std::move(memory), count) {}
};

/// The memory of `buffer`, which is borrowed, as bytes.
template <class Element>
[[nodiscard]] DeviceSpan<const std::byte> as_bytes(const DeviceBuffer<Element>& buffer) noexcept {
    return as_bytes(buffer.span());
}
/// The same, to be written.
template <class Element>
[[nodiscard]] DeviceSpan<std::byte> as_writable_bytes(const DeviceBuffer<Element>& buffer) noexcept {
    return as_writable_bytes(buffer.span());
}

/// `size()` uninitialised elements of page-locked host memory, which copies to and from the GPU at full speed and
/// without blocking. Move-only, kept by nodes and used by threads as a DeviceBuffer is.
template <class Element>
class PinnedBuffer : public detail::OwnedMemory<Element> {
  public:
    /// `count` may be 0: then `data()` is null. Throws as DeviceBuffer does.
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

    /// Borrows: a node that is given the span does not keep the memory.
    [[nodiscard]] std::span<Element> span() const noexcept { return {this->data(), this->size()}; }
};

} // namespace cudag
