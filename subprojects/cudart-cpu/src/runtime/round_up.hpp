// Rounding of sizes and addresses up to a multiple of a unit.
#pragma once

#include <cstddef>

namespace cudart_cpu::detail {

constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

} // namespace cudart_cpu::detail
