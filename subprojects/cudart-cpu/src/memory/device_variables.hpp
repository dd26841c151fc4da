// The memory of the known device variables.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::detail {

/// Counts these bytes as the device's memory from now on.
void note_variable(const void* base, std::size_t bytes);
void forget_variable(const void* base) noexcept;

/// Returns the variable that begins at `base`.
std::optional<Range> variable_at(const void* base);
/// Returns the variable with `pointer` inside.
std::optional<Range> find_variable(const void* pointer);

} // namespace cudart_cpu::detail
