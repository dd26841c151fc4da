// Graphs as lists of nodes.
#include <cudag/format.hpp>
#include <cudag/graph.hpp>

#include "edges/edge_groups.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "node_look.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cudag {

namespace {

constexpr std::size_t deepest = 128; ///< largest indent: the text grows with the nodes, not their depth

/// The sources of the edges to a node: ", after 0, 2 to 9, 11 (programmatic)".
std::string predecessors(const detail::GraphState& graph, std::span<const std::uint32_t> incoming) {
    std::string text;
    for (std::size_t at = 0; at < incoming.size();) {
        const detail::EdgeRecord& first = edges_of(graph)[incoming[at]];
        std::uint32_t last = first.from;
        for (++at; at < incoming.size(); ++at) {
            const detail::EdgeRecord& next = edges_of(graph)[incoming[at]];
            if (next.from != last + 1 || next.kind != first.kind) break;
            last = next.from;
        }
        text += fmt::format("{}{}", text.empty() ? ", after " : ", ", first.from);
        if (last != first.from) text += fmt::format("{}{}", last == first.from + 1 ? ", " : " to ", last);
        if (first.kind != EdgeKind::full) text += fmt::format(" ({})", first.kind);
    }
    return text;
}

void list(const detail::GraphState& graph, const std::string& indent, std::string& text) {
    const detail::EdgeGroups incoming(records_of(graph).nodes().size(), edges_of(graph), &detail::EdgeRecord::to);
    for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
        const detail::NodeRecord& node = records_of(graph).nodes()[i];
        text += fmt::format("{}{}: ", indent, i);
        if (!node.label.empty()) text += fmt::format("\"{}\" ", std::string_view(node.label));
        text += operation_of(graph, i) + arguments_of(graph, i);
        if (node.location.line != 0) text += fmt::format(" at {}", node.location);
        text += predecessors(
                    graph,
                    std::span(incoming.items).subspan(incoming.first[i], incoming.first[i + 1] - incoming.first[i])) +
                "\n";
        const auto inside = nested_in(graph, i);
        const std::string deeper = indent.size() < deepest ? indent + "    " : indent;
        for (std::size_t number = 0; number < inside.size(); ++number) {
            text += fmt::format("{}  {}:\n", indent, role_of_inner(graph, i, number));
            list(*inside[number], deeper, text);
        }
    }
}

} // namespace

std::string Graph::listing() const {
    const detail::GraphState& graph = state();
    detail::read_all(graph);
    std::string text = to_string(*this) + "\n";
    const auto lock = lock_of(graph);
    list(graph, "  ", text);
    return text;
}

void Graph::print(std::FILE* file) const {
    const std::string text = listing();
    std::fwrite(text.data(), 1, text.size(), file);
}

} // namespace cudag
