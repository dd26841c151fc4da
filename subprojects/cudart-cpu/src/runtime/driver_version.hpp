// The driver's version, settable by a test: an older driver lacks later additions.
#pragma once

namespace cudart_cpu::detail {

/// The version reported by cudaDriverGetVersion, such as 12080.
[[nodiscard]] int driver_version() noexcept;

/// Throws cudaErrorCallRequiresNewerDriver if the driver is older than `since`.
void require_driver(int since);

} // namespace cudart_cpu::detail
