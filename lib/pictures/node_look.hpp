// The look of nodes in pictures and lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cudag::detail {

class GraphState;

/// Describes a node's operation: "scale <<<(1, 1, 1), (64, 1, 1)>>>", "memcpy 8 bytes", or its kind.
[[nodiscard]] std::string operation_of(const GraphState& graph, std::uint32_t index);

/// The values of a kernel's arguments: "(0x7f00, 2.5, 100)"; empty for other nodes.
[[nodiscard]] std::string arguments_of(const GraphState& graph, std::uint32_t index);

/// The role of inner graph `number` in its node: "graph", "then", "case 2".
[[nodiscard]] std::string role_of_inner(const GraphState& graph, std::uint32_t index, std::size_t number);

/// The text with each number in it as "#".
[[nodiscard]] std::string without_numbers(std::string_view text);

} // namespace cudag::detail
