// Graph as Graphviz text.
#include <cudag/graph.hpp>

#include "graph_state.hpp"
#include "node/rules.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace cudag {

namespace {

using detail::NodeRecord;

std::string escaped(std::string_view text) {
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

/// What the graph `number` inside a node is to it.
std::string role(const NodeRecord& node, std::size_t number) {
    const auto* conditional = std::get_if<const detail::ConditionalParams*>(&node.params);
    return conditional == nullptr ? "graph" : role_of_body((*conditional)->kind, number);
}

/// A graph inside a node is a cluster in the cluster of its node.
class DotWriter {
  public:
    explicit DotWriter(const detail::GraphState& graph) {
        text_ = "digraph cudag {\n";
        write(graph, "    ");
        text_ += "}\n";
    }
    [[nodiscard]] std::string&& text() && noexcept { return std::move(text_); }

  private:
    static constexpr std::size_t deepest = 128; ///< spaces: the text stays as long as there are nodes

    void write(const detail::GraphState& graph, const std::string& indent) {
        const std::size_t first = next_;
        next_ += graph.nodes().size();
        for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
            write_node(graph, i, first + i, indent);
        for (const detail::EdgeRecord& edge : graph.edges()) {
            text_ += fmt::format("{}n{} -> n{}", indent, first + edge.from, first + edge.to);
            if (edge.kind != EdgeKind::full)
                text_ += fmt::format(" [style=dashed, label=\"{}\"]", to_string(edge.kind));
            text_ += ";\n";
        }
    }

    void write_node(const detail::GraphState& graph, std::uint32_t index, std::size_t id, const std::string& indent) {
        const NodeRecord& node = graph.nodes()[index];
        const std::string label = node.label.empty() ? "" : escaped(node.label) + "\\n";
        std::string what = title(graph.params(index));
        if (what.empty()) what = to_string(node.kind);
        const std::string line = fmt::format("n{} [shape={}, label=\"{}{}\"];\n", id, detail::rules_of(node.kind).shape,
                                             label, escaped(what));
        const auto inside = graph.nested_in(index);
        if (inside.empty()) {
            text_ += indent + line;
            return;
        }
        // without a label of its own, a cluster has that of the one around it
        text_ += fmt::format("{0}subgraph cluster_n{1} {{\n{0}    label=\"\";\n{0}    {2}", indent, id, line);
        const std::string deeper = indent.size() < deepest ? indent + "        " : indent;
        for (std::size_t number = 0; number < inside.size(); ++number) {
            text_ += fmt::format("{0}    subgraph cluster_n{1}_{2} {{\n{0}        label=\"{3}\";\n", indent, id, number,
                                 role(node, number));
            write(*inside[number], deeper);
            text_ += indent + "    }\n";
        }
        text_ += indent + "}\n";
    }

    std::string text_;
    std::size_t next_ = 0;
};

} // namespace

std::string Graph::dot() const {
    const detail::GraphState& graph = state();
    const auto lock = graph.lock();
    return DotWriter(graph).text();
}

} // namespace cudag
