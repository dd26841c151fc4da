// Where in the user's source a node was made or a call stands.
#pragma once

#include <cudag/config.hpp>

namespace cudag {

/// File, line and function of a call. It stands in for `std::source_location`, which clang 14 (Debian 12's) does not
/// have: one type for every compiler keeps objects of g++, clang++ and nvcc linkable with each other.
/// The pointers refer to string literals. Default-constructed, it is "nowhere" (`line` is 0).
struct SourceLocation {
    const char* file = "";
    const char* function = "";
    unsigned line = 0;

    [[nodiscard]] static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                                          const char* function = __builtin_FUNCTION(),
                                                          unsigned line = __builtin_LINE()) noexcept {
        return {file, function, line};
    }
};

} // namespace cudag
