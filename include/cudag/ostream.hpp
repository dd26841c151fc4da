// operator<< of cudag's types for std::ostream, with the texts of `to_string`.
#pragma once

#include <concepts>
#include <ostream>
#include <string_view>
#include <type_traits>

namespace cudag {

namespace detail {

/// A type of cudag with a `to_string`.
template <class Type>
concept HasText = (std::is_class_v<Type> || std::is_enum_v<Type>)&&!std::convertible_to<Type, std::string_view> &&
                  requires(const Type& value) {
                      { to_string(value) } -> std::convertible_to<std::string_view>;
                  };

} // namespace detail

/// Writes the text of `value`: a node, an edge kind, a race, a report, ... Includes of this header and of the type's
/// own header may stand in any order.
///
///     std::cout << graph << '\n' << graph.find_one("axpy") << '\n';
template <detail::HasText Type>
std::ostream& operator<<(std::ostream& stream, const Type& value) {
    return stream << std::string_view(to_string(value));
}

} // namespace cudag
