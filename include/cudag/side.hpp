// Side: the side of a range of memory, host or device.
#pragma once

#include <string_view>

namespace cudag {

/// The side of a range of memory: the host's, or a device's. Views with a form for each side, Span2D and Span3D, have
/// it in their type.
///
///     const cudag::Span2D<float, cudag::Side::device> tile(x, 16, 8); // a DeviceSpan2D<float>
enum class Side { host, device };

/// Returns "host" or "device".
[[nodiscard]] constexpr std::string_view to_string(Side side) noexcept {
    return side == Side::host ? "host" : "device";
}

} // namespace cudag
