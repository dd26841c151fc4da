// Types at run time, their identity and their name, without RTTI: programs are compiled with -fno-rtti, too.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace cudag::detail {

/// What the compiler calls a type, as in an error message.
template <class Type>
constexpr auto compiler_name() noexcept {
    constexpr std::string_view function = __PRETTY_FUNCTION__; // "... [with Type = int]", "... [Type = int]"
    constexpr std::string_view before = "Type = ";
    constexpr std::size_t found = function.rfind(before);
    constexpr std::size_t first = found == std::string_view::npos ? 0 : found + before.size();
    return function.substr(first, function.rfind(']') - first);
}

/// The name that C++ programs write: compilers differ in those of integers.
template <class Type>
constexpr std::string_view type_name() noexcept {
    if constexpr (std::is_same_v<Type, unsigned char>)
        return "unsigned char";
    else if constexpr (std::is_same_v<Type, short>)
        return "short";
    else if constexpr (std::is_same_v<Type, unsigned short>)
        return "unsigned short";
    else if constexpr (std::is_same_v<Type, unsigned>)
        return "unsigned int";
    else if constexpr (std::is_same_v<Type, long>)
        return "long";
    else if constexpr (std::is_same_v<Type, unsigned long>)
        return "unsigned long";
    else if constexpr (std::is_same_v<Type, long long>)
        return "long long";
    else if constexpr (std::is_same_v<Type, unsigned long long>)
        return "unsigned long long";
    else
        return compiler_name<Type>();
}

/// A type at run time. Equal types have equal names; types of one name in two source files may differ.
struct TypeTag {
    std::string_view name;
};

/// Holds the TypeTag of a type, whose address is the type's identity within one shared object. Not exported: GCC would
/// make it unique in the process, and shared objects with such symbols are never unloaded.
template <class Type>
struct TypeOf {
    static constexpr TypeTag tag{type_name<Type>()};
};

} // namespace cudag::detail
