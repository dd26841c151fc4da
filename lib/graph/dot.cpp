// Graph as Graphviz text.
#include <cudag/graph.hpp>

#include "cuda/kernel_name.hpp"
#include "graph_state.hpp"
#include "names.hpp"
#include "node/kernel_attributes.hpp"
#include "node/region_params.hpp"
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

/// What the node does, in one line.
std::string action(const NodeRecord& node, const detail::NodeParams& params) {
    if (const auto* kernel = std::get_if<const detail::KernelParams*>(&params)) {
        const LaunchConfig config = full_config(**kernel);
        return fmt::format("{} <<<({}, {}, {}), ({}, {}, {})>>>{}", detail::kernel_name((*kernel)->function),
                           config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y, config.block.z,
                           detail::describe_attributes(config));
    }
    if (const auto* copy = std::get_if<const detail::CopyParams*>(&params))
        return fmt::format("memcpy {} bytes", (*copy)->source_size * (*copy)->element_bytes);
    if (const auto* copy = std::get_if<const cudaMemcpy3DParms*>(&params))
        return "memcpy " + detail::describe_extent(**copy);
    if (const auto* set = std::get_if<const detail::SetParams*>(&params))
        return fmt::format("memset {}{} x {} bytes", (*set)->size,
                           (*set)->height == 1 ? "" : fmt::format(" x {}", (*set)->height), (*set)->element_bytes);
    if (const auto* alloc = std::get_if<const detail::AllocParams*>(&params))
        return fmt::format("alloc {} bytes", (*alloc)->bytes);
    return std::string(kind_text(node));
}

/// What the graph `number` inside a node is to it.
std::string role(const NodeRecord& node, std::size_t number) {
    const auto* conditional = std::get_if<const detail::ConditionalParams*>(&node.params);
    if (conditional == nullptr) return "graph";
    switch ((*conditional)->kind) {
    case detail::ConditionalKind::if_:
        return number == 0 ? "then" : "else";
    case detail::ConditionalKind::while_:
        return "body";
    default:
        return fmt::format("case {}", number);
    }
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
        const std::string line = fmt::format("n{} [shape={}, label=\"{}{}\"];\n", id, detail::rules_of(node.kind).shape,
                                             label, escaped(action(node, graph.params(index))));
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
