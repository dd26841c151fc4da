// Texts about nodes.
#include "node_look.hpp"

#include "graph/graph_records.hpp"
#include "node/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <variant>

namespace cudag::detail {

std::string operation_of(const GraphState& graph, std::uint32_t index) {
    std::string text = title(records_of(graph).params(index));
    if (text.empty()) text = rules_of(records_of(graph).nodes()[index].kind).name;
    return text;
}

std::string arguments_of(const GraphState& graph, std::uint32_t index) {
    const auto* const* kernel = std::get_if<const KernelParams*>(&records_of(graph).params(index));
    return kernel == nullptr ? "" : fmt::format("({})", fmt::join(argument_texts(**kernel), ", "));
}

std::string role_of_inner(const GraphState& graph, std::uint32_t index, std::size_t number) {
    const auto* const* conditional = std::get_if<const ConditionalParams*>(&records_of(graph).nodes()[index].params);
    return conditional == nullptr ? "graph" : role_of_body((*conditional)->kind, number);
}

std::string without_numbers(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
        if (!is_digit)
            result += c;
        else if (!result.ends_with('#'))
            result += '#';
    }
    return result;
}

} // namespace cudag::detail
