// The memory of device variables, as far as they are known.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::detail {

/// From now on these bytes count as the device's memory.
void note_variable(const void* base, std::size_t bytes);
void forget_variable(const void* base) noexcept;

/// The variable that begins at `base`.
std::optional<Range> variable_at(const void* base);
/// The variable that `pointer` points into.
std::optional<Range> find_variable(const void* pointer);

} // namespace cudart_cpu::detail
