// In, Out, InOut, Named: the kinds and names of a GraphFunction's parameters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace cudag {

/// Device memory that a GraphFunction reads.
template <class Element>
struct In;
/// Device memory that a GraphFunction writes.
template <class Element>
struct Out;
/// Device memory that a GraphFunction reads and writes.
template <class Element>
struct InOut;

/// The name of a parameter, as a template argument: `arg<"count">(17)`.
template <std::size_t Size>
struct ParameterName {
    char text[Size]{};
    constexpr ParameterName(const char (&literal)[Size]) noexcept { // NOLINT: implicit, for arg<"count">
        std::copy_n(literal, Size, text);
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, Size - 1}; }
};

/// A parameter of a GraphFunction with a name for calls: `Named<"count", int>`.
template <ParameterName Name, class Parameter>
struct Named;

/// One argument of a GraphFunction with its parameter's name: made by `arg<"name">(value)`.
template <ParameterName Name, class Value>
struct NamedArgument {
    static constexpr ParameterName name = Name;
    Value&& value;
};

/// Names a parameter of a GraphFunction in a call. Refers to `value`: use the result within the same expression.
template <ParameterName Name, class Value>
[[nodiscard]] NamedArgument<Name, Value> arg(Value&& value) noexcept {
    return {std::forward<Value>(value)};
}

} // namespace cudag
