// Enumerations given by callers.
#pragma once

#include <cstring>

namespace cudart_cpu::detail {

/// Returns the number in `value`. It may be none of the enumerators: reading it as an enumerator would be undefined.
template <class Enum>
int number_in(const Enum& value) noexcept {
    static_assert(sizeof(Enum) == sizeof(int));
    int number;
    std::memcpy(&number, &value, sizeof number);
    return number;
}

} // namespace cudart_cpu::detail
