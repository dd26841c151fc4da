// The identity and the name of types at run time, without RTTI: some programs are compiled with -fno-rtti.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace cudag::detail {

/// Returns the compiler's name of a type, as in an error message.
template <class Type>
constexpr auto compiler_name() noexcept {
    constexpr std::string_view function = __PRETTY_FUNCTION__; // "... [with Type = int]", "... [Type = int]"
    constexpr std::string_view before = "Type = ";
    constexpr std::size_t found = function.rfind(before);
    constexpr std::size_t first = found == std::string_view::npos ? 0 : found + before.size();
    return function.substr(first, function.rfind(']') - first);
}

/// Returns the name of a type as in C++ programs. Compilers differ in their names of integers.
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

    /// True if both are tags of one type; each shared object may have its own tag of it. The address alone decides if a
    /// name is unique only in a source file or a function, such as a lambda's.
    friend constexpr bool operator==(const TypeTag& a, const TypeTag& b) noexcept {
        return &a == &b || (a.name == b.name && a.name.find_first_of("({") == std::string_view::npos &&
                            a.name.find("<unnamed") == std::string_view::npos);
    }
};

/// Holds the TypeTag of a type. The symbol is hidden: GCC would make it unique in the process, and a shared object with
/// a unique symbol is never unloaded.
template <class Type>
struct __attribute__((visibility("hidden"))) TypeOf {
    static constexpr TypeTag tag{type_name<Type>()};
};

} // namespace cudag::detail
