// Graph as Graphviz text.
#include <cudag/graph.hpp>

#include "graph_state.hpp"
#include "kernel_attributes.hpp"
#include "kernel_name.hpp"

#include <fmt/format.h>

#include <string>

namespace cudag {

namespace {

using detail::NodeRecord;

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (c == '\n')
            result += "\\n";
        else
            result += c;
    }
    return result;
}

const char* shape(NodeKind kind) {
    switch (kind) {
    case NodeKind::kernel:
        return "box";
    case NodeKind::host:
        return "hexagon";
    case NodeKind::empty:
        return "diamond";
    default:
        return "ellipse";
    }
}

/// What the node does, in one line.
std::string action(const NodeRecord& node) {
    if (const auto* kernel = std::get_if<const detail::KernelParams*>(&node.params)) {
        const LaunchConfig& config = (*kernel)->config;
        return fmt::format("{} <<<({}, {}, {}), ({}, {}, {})>>>{}", detail::kernel_name((*kernel)->function),
                           config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y, config.block.z,
                           detail::describe_attributes(config));
    }
    if (const auto* copy = std::get_if<const detail::CopyParams*>(&node.params))
        return fmt::format("memcpy {} bytes", (*copy)->source_size * (*copy)->element_bytes);
    if (const auto* set = std::get_if<const detail::SetParams*>(&node.params))
        return fmt::format("memset {} x {} bytes", (*set)->size, (*set)->element_bytes);
    return std::string(to_string(node.kind));
}

} // namespace

std::string Graph::dot() const {
    const detail::GraphState& graph = state();
    std::string text = "digraph cudag {\n";
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const NodeRecord& node = graph.nodes()[i];
        const std::string label = node.label.empty() ? "" : escaped(node.label) + "\\n";
        text += fmt::format("    n{} [shape={}, label=\"{}{}\"];\n", i, shape(node.kind), label, escaped(action(node)));
    }
    for (const detail::EdgeRecord& edge : graph.edges())
        text += edge.kind == EdgeKind::full ? fmt::format("    n{} -> n{};\n", edge.from, edge.to)
                                            : fmt::format("    n{} -> n{} [style=dashed, label=\"{}\"];\n", edge.from,
                                                          edge.to, to_string(edge.kind));
    return text + "}\n";
}

} // namespace cudag
