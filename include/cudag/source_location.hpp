// SourceLocation: the place of a call in the user's source.
#pragma once

#include <cudag/config.hpp>

namespace cudag {

/// File, line and function of a call. Functions of cudag take it by default; a wrapper passes on its caller's:
///
///     const auto upload = [&](cudag::SourceLocation location = cudag::SourceLocation::current()) {
///         return b.memcpy(x, host, location);
///     };
///
/// The pointers refer to string literals. Default-constructed, it is "nowhere" (`line` is 0). It stands in for
/// `std::source_location`, missing in clang 14 (Debian 12's): one type for every compiler keeps objects of g++, clang++
/// and nvcc linkable with each other.
struct SourceLocation {
    const char* file = "";
    const char* function = "";
    unsigned line = 0;

    /// Returns the location of its caller; as a default argument, the location of the call.
    [[nodiscard]] static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                                          const char* function = __builtin_FUNCTION(),
                                                          unsigned line = __builtin_LINE()) noexcept {
        return {file, function, line};
    }
};

} // namespace cudag
