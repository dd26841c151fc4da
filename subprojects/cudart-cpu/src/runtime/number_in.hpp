// Enumerations that callers gave.
#pragma once

#include <cstring>

namespace cudart_cpu::detail {

/// The number in `value`, which may be none of the enumerators: reading it as one would be undefined.
template <class Enum>
int number_in(const Enum& value) noexcept {
    static_assert(sizeof(Enum) == sizeof(int));
    int number;
    std::memcpy(&number, &value, sizeof number);
    return number;
}

} // namespace cudart_cpu::detail
