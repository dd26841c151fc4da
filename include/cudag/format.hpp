// fmt formatters of cudag's types; apart from cudag.hpp because nvcc does not compile fmt 9 in C++20.
#pragma once

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

/// "memcpy"
template <>
struct fmt::formatter<cudag::NodeKind> : fmt::formatter<fmt::string_view> {
    auto format(cudag::NodeKind kind, fmt::format_context& context) const {
        const std::string_view text = cudag::to_string(kind);
        return fmt::formatter<fmt::string_view>::format({text.data(), text.size()}, context);
    }
};

/// "pipeline.cpp:42"
template <>
struct fmt::formatter<cudag::SourceLocation> : fmt::formatter<fmt::string_view> {
    auto format(const cudag::SourceLocation& location, fmt::format_context& context) const {
        const std::string text = fmt::format("{}:{}", location.file, location.line);
        return fmt::formatter<fmt::string_view>::format(text, context);
    }
};
