// Which devices may use the memory of which others.
#pragma once

namespace cudart_cpu::detail {

/// Whether `device` can use the memory of `peer`, another device.
[[nodiscard]] bool can_access_peer(int device, int peer) noexcept;

/// As if `device` had enabled access to no other.
void disable_peer_access_of(int device) noexcept;

} // namespace cudart_cpu::detail
