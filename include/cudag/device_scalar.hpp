// DeviceScalar: a value on the device that is set between the launches of a graph.
#pragma once

#include <cudag/buffer.hpp>
#include <cudag/config.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace cudag {

namespace detail {

inline constexpr std::size_t max_scalar_bytes = 16;

/// Where a scalar is, who keeps it, and the call that uses it.
struct ScalarPlace {
    const std::shared_ptr<void>& memory;
    std::size_t bytes;
    const SourceLocation& where;
};

[[nodiscard]] CUDAG_EXPORT std::shared_ptr<void> make_scalar(std::size_t bytes, const void* value,
                                                             const SourceLocation& where);
CUDAG_EXPORT void set_scalar(cudaStream_t stream, const ScalarPlace& scalar, const void* value);
CUDAG_EXPORT void get_scalar(cudaStream_t stream, const ScalarPlace& scalar, void* value);

} // namespace detail

/// One value in device memory, at an address that never changes: a graph that was captured or built with it sees the
/// value that it has when the graph runs. Kernels take it as a `Value*` or `const Value*`; memcpy and memset as a range
/// of one element. It is kept by nodes as a DeviceBuffer is. Move-only; a moved-from scalar may only be assigned to or
/// destroyed. Threads: `set` and const calls may run at once; their streams order what they do.
///
///     cudag::DeviceScalar<float> alpha(1.0f);
///     ...                               // capture or build with alpha
///     alpha.set(2.0f, stream);
///     exec.launch(stream);              // sees 2.0f
template <class Value>
class DeviceScalar : public detail::OwnedMemory<Value> {
    static_assert(
        sizeof(Value) <= detail::max_scalar_bytes,
        "cudag: a DeviceScalar has at most 16 bytes, which memsets can carry; copy more from a PinnedBuffer to "
        "a DeviceBuffer");

  public:
    /// On the current device, which has the value when this returns. Throws Error if CUDA cannot allocate: not while
    /// this thread captures a stream, unless it is relaxed.
    explicit DeviceScalar(const Value& value, SourceLocation location = SourceLocation::current())
        : detail::OwnedMemory<Value>(detail::make_scalar(sizeof(Value), &value, location), 1) {}
    DeviceScalar(DeviceScalar&&) noexcept = default;
    DeviceScalar& operator=(DeviceScalar&&) noexcept = default;
    DeviceScalar(const DeviceScalar&) = delete;            // cudag: a DeviceScalar has one owner: std::move(scalar)
    DeviceScalar& operator=(const DeviceScalar&) = delete; // cudag: a DeviceScalar has one owner: std::move(scalar)
    DeviceScalar& operator=(const Value&) = delete; // cudag: a DeviceScalar is set in a stream: set(value, stream)

    /// Sets the value, which is copied now, after what `stream` was given before and ahead of what it is given later.
    /// Never waits. While `stream` is captured, it becomes a memset node, or several and a copy: each run of the graph
    /// sets this value, and the graph keeps the scalar.
    /// What another stream does at the same time must be ordered by other means. Throws Error if CUDA refuses, or
    /// CaptureError if that is because of a capture.
    void set(const Value& value, StreamRef stream, // cudag: set(value, stream) needs the stream that orders it
             SourceLocation location = SourceLocation::current()) {
        detail::set_scalar(stream.get(), {this->owner(), sizeof(Value), location}, &value);
    }

    /// The value after what `stream` was given before; waits for that as Stream::synchronize does, and throws what that
    /// throws. Throws CaptureError if `stream` is captured: it has no values then.
    [[nodiscard]] Value get(StreamRef stream, // cudag: get(stream) needs the stream that orders it
                            SourceLocation location = SourceLocation::current()) const {
        std::array<std::byte, sizeof(Value)> bytes;
        detail::get_scalar(stream.get(), {this->owner(), sizeof(Value), location}, bytes.data());
        return std::bit_cast<Value>(bytes);
    }

    /// Borrows: a node that is given the span does not keep the memory.
    [[nodiscard]] DeviceSpan<Value> span() const noexcept { return {this->data(), this->size()}; }
};

} // namespace cudag
