// The content of a graph's text, without CUDA's handles: written from a graph or read from a text.
#pragma once

#include "text_lines.hpp"

#include <cudag/diff.hpp>
#include <cudag/edge.hpp>
#include <cudag/node.hpp>
#include <cudag/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudag::detail {

/// A parameter of a node. `kind` and `needs_instantiate` are known for fields of graphs only.
struct TextField {
    std::string name;
    std::string value;
    std::size_t line = 0; ///< in the text; 0 for a graph
    DifferenceKind kind = DifferenceKind::parameter;
    bool needs_instantiate = false;
};

struct TextEdge {
    std::uint32_t from;
    EdgeKind kind = EdgeKind::full;
};

struct TextNode;

/// A graph inside a node: "graph", "then", "case 2".
struct TextInner {
    std::string role;
    std::vector<TextNode> nodes;
};

struct TextNode {
    NodeKind kind;
    std::string label;
    std::vector<TextEdge> after;
    std::vector<TextField> fields;
    std::vector<TextInner> inner;
    std::size_t line = 0;

    [[nodiscard]] const TextField* find(std::string_view name) const noexcept;
};

struct TextMemory {
    std::string name;
    std::size_t bytes; ///< as far as known
    std::size_t line = 0;
};

struct TextCondition {
    std::optional<unsigned> initial;
    int device = 0;
    std::size_t line = 0;
    bool is_initial_unknown = false;
};

struct GraphDocument {
    std::optional<Plan> plan = std::nullopt;
    std::vector<TextMemory> memory = {};
    std::vector<TextCondition> conditions = {};
    std::vector<TextNode> nodes = {};
};

/// The field of a node with parameters unknown to cudag.
inline constexpr std::string_view opaque_field = "parameters";

[[nodiscard]] std::string to_string(const GraphDocument& document);
/// "0, 2 to 5, 7 (programmatic)"
[[nodiscard]] std::string edges_text(const std::vector<TextEdge>& edges);
/// The lines of a plan.
[[nodiscard]] std::string plan_text(const Plan& plan);
/// Throws GraphError for a text that is none, with the wrong line.
[[nodiscard]] GraphDocument parse_document(std::string_view text);

} // namespace cudag::detail
