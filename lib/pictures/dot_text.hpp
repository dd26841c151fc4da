// Text in Graphviz's language.
#pragma once

#include <string>
#include <string_view>

namespace cudag::detail {

/// Returns `text` as part of a quoted string: quotes, backslashes, line ends and null characters become escapes.
[[nodiscard]] inline std::string quoted_in_dot(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (c == '\n')
            result += "\\n";
        else if (c == '\0')
            result += "\\\\0";
        else
            result += c;
    }
    return result;
}

} // namespace cudag::detail
