// The numbers of the live CapturePools, by owner: graphs find the pool among their owners.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace cudag::detail {

/// Makes the pool behind the owner `pool` known by its number, until `forget_pool`.
void note_pool(const void* pool, std::uint64_t number);
void forget_pool(const void* pool) noexcept;
/// Returns the number of the first pool among `owners`; 0 if there is none.
[[nodiscard]] std::uint64_t pool_among(std::span<const std::shared_ptr<const void>> owners) noexcept;

} // namespace cudag::detail
