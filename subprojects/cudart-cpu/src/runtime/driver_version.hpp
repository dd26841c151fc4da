// The driver's version, which a test may set: an older driver lacks what came later.
#pragma once

namespace cudart_cpu::detail {

/// What cudaDriverGetVersion says, such as 12080.
[[nodiscard]] int driver_version() noexcept;

/// Throws cudaErrorCallRequiresNewerDriver if the driver is older than `since`.
void require_driver(int since);

} // namespace cudart_cpu::detail
