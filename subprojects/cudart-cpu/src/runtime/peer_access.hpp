// Access of devices to each other's memory.
#pragma once

namespace cudart_cpu::detail {

/// Whether `device` can use the memory of `peer`, another device.
[[nodiscard]] bool can_access_peer(int device, int peer) noexcept;

/// Disables all access of `device` to other devices.
void disable_peer_access_of(int device) noexcept;

} // namespace cudart_cpu::detail
