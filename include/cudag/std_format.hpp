// std::formatter of cudag's types, with the texts of `to_string`; empty if the standard library has no std::format.
#pragma once

#include <version>

#ifdef __cpp_lib_format

#include <cudag/ostream.hpp>

#include <format>
#include <string_view>

/// Formats a node, an edge kind, a race, a report, ... with the options of text: `std::format("{:>40}", node)`.
template <cudag::detail::HasText Type>
struct std::formatter<Type, char> : std::formatter<std::string_view, char> {
    template <class Context>
    auto format(const Type& value, Context& context) const {
        return std::formatter<std::string_view, char>::format(std::string_view(to_string(value)), context);
    }
};

#endif
