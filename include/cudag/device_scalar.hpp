// DeviceScalar: a value on the device, set between the launches of a graph.
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

/// The memory of a scalar, its size, and the source location of the call that uses it.
struct ScalarPlace {
    const std::shared_ptr<void>& memory;
    std::size_t bytes;
    const SourceLocation& where;
};

/// Allocates a scalar and sets it; returns when the device has the value.
[[nodiscard]] CUDAG_EXPORT std::shared_ptr<void> make_scalar(std::size_t bytes, const void* value,
                                                             const SourceLocation& where);
/// Sets the scalar from the bytes at `value`, in stream order; see DeviceScalar::set.
CUDAG_EXPORT void set_scalar(cudaStream_t stream, const ScalarPlace& scalar, const void* value);
/// Waits for `stream` and copies the scalar to `value`; see DeviceScalar::get.
CUDAG_EXPORT void get_scalar(cudaStream_t stream, const ScalarPlace& scalar, void* value);

} // namespace detail

/// One value in device memory, at a fixed address. A graph that uses it, built or captured, sees the value at the time
/// of the run; `set` changes it between launches.
///
///     cudag::DeviceScalar<float> bias(1.0f);
///     b.kernel(config, add, x, bias, y, 1); // y[0] = x[0] + bias
///     ...
///     bias.set(2.0f, stream);
///     exec.launch(stream);                  // adds 2.0f
///
/// Kernels take the scalar as a `Value*` or `const Value*`; memcpy and memset take it as a range of one element. Nodes
/// keep it like a DeviceBuffer. Move-only; a moved-from scalar may only be assigned to or destroyed. Threads: `set` and
/// const calls may run concurrently; their streams order the effects.
template <class Value>
class DeviceScalar : public detail::OwnedMemory<Value> {
    static_assert(
        sizeof(Value) <= detail::max_scalar_bytes,
        "cudag: a DeviceScalar has at most 16 bytes, which memsets can carry; copy more from a PinnedBuffer to "
        "a DeviceBuffer");

  public:
    /// Allocates the scalar on the current device and sets it; the device has the value when this returns. Throws like
    /// the constructor of DeviceBuffer, also during captures.
    explicit DeviceScalar(const Value& value, SourceLocation location = SourceLocation::current())
        : detail::OwnedMemory<Value>(detail::make_scalar(sizeof(Value), &value, location), 1) {}
    DeviceScalar(DeviceScalar&&) noexcept = default;
    DeviceScalar& operator=(DeviceScalar&&) noexcept = default;
    DeviceScalar(const DeviceScalar&) = delete;            // cudag: a DeviceScalar has one owner: std::move(scalar)
    DeviceScalar& operator=(const DeviceScalar&) = delete; // cudag: a DeviceScalar has one owner: std::move(scalar)
    DeviceScalar& operator=(const Value&) = delete; // cudag: a DeviceScalar is set in a stream: set(value, stream)

    /// Sets the value in stream order: after the earlier work of `stream`, before its later work. Copies `value` during
    /// the call, and never waits. While `stream` is captured, the call records a memset node, or several and a copy:
    /// each run of the graph sets this value, and the graph keeps the scalar. Work in other streams must be ordered by
    /// other means. Throws Error if CUDA refuses, CaptureError if it refuses because of a capture.
    void set(const Value& value, StreamRef stream, // cudag: set(value, stream) needs the stream that orders it
             SourceLocation location = SourceLocation::current()) {
        detail::set_scalar(stream.get(), {this->owner(), sizeof(Value), location}, &value);
    }

    /// Returns the value after the earlier work of `stream`. Waits for that work, and throws, like Stream::synchronize.
    /// Throws CaptureError if `stream` is captured: its work has not run, so there is no value.
    [[nodiscard]] Value get(StreamRef stream, // cudag: get(stream) needs the stream that orders it
                            SourceLocation location = SourceLocation::current()) const {
        std::array<std::byte, sizeof(Value)> bytes;
        detail::get_scalar(stream.get(), {this->owner(), sizeof(Value), location}, bytes.data());
        return std::bit_cast<Value>(bytes);
    }

    /// Returns a view of the value. It borrows: a node that takes the span does not keep the memory.
    [[nodiscard]] DeviceSpan<Value> span() const noexcept { return {this->data(), this->size()}; }
};

} // namespace cudag
