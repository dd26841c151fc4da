// The amounts of a release, as text.
#include <cudag/released_memory.hpp>

#include "cuda/memory_holders.hpp"

#include <fmt/format.h>

#include <string>

namespace cudag {

std::string to_string(const ReleasedMemory& memory) {
    using detail::size_text;
    std::string parts;
    const auto add = [&parts](const char* what, std::size_t bytes) {
        if (bytes != 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", what, size_text(bytes));
    };
    add("pools", memory.pools);
    add("graph memory", memory.graph_memory);
    std::string text = size_text(memory.pools + memory.graph_memory) + " released";
    if (!parts.empty()) text += " (" + parts + ")";
    if (memory.kept != 0) text += fmt::format(", {} kept on the host", size_text(memory.kept));
    if (memory.not_released != 0)
        text += fmt::format(", {} in pools that are not releasable", size_text(memory.not_released));
    return text;
}

} // namespace cudag
