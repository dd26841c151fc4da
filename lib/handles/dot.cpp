// Graphs as Graphviz text.
#include "dot.hpp"

#include <cudag/graph.hpp>

#include "edges/edge_set.hpp"
#include "graph/graph_state.hpp"
#include "node/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Names the role of inner graph `number` in its node.
std::string role(const NodeRecord& node, std::size_t number) {
    const auto* conditional = std::get_if<const detail::ConditionalParams*>(&node.params);
    return conditional == nullptr ? "graph" : role_of_body((*conditional)->kind, number);
}

/// Writes a graph as text. A graph inside a node is a cluster in the cluster of its node.
class DotWriter {
  public:
    DotWriter(const detail::GraphState& graph, const std::vector<detail::PlannedGraph>& planned) : planned_(planned) {
        text_ = "digraph cudag {\n";
        write(graph, "    ");
        text_ += "}\n";
    }
    [[nodiscard]] std::string&& text() && noexcept { return std::move(text_); }

  private:
    static constexpr std::size_t deepest = 128; ///< largest indent: the text grows with the nodes, not their depth

    void write(const detail::GraphState& graph, const std::string& indent) {
        const std::size_t first = next_;
        const auto nodes = static_cast<std::uint32_t>(graph.records().nodes().size());
        next_ += nodes;
        const auto found = std::ranges::find(planned_, &graph, &detail::PlannedGraph::graph);
        const detail::PlannedEdges* const plan = found == planned_.end() ? nullptr : found->planned.get();
        std::vector<bool> is_left_out(nodes);
        if (plan != nullptr)
            for (const detail::JoinRecord& join : plan->joins)
                if (join.node != detail::JoinRecord::no_node && join.form != JoinForm::node)
                    is_left_out[join.node] = true;
        for (std::uint32_t i = 0; i < nodes; ++i)
            write_node(graph, i, first + i, is_left_out[i] ? left_out : "", indent);
        if (plan == nullptr) {
            for (const detail::EdgeRecord& edge : graph.edges())
                write_edge(name_of(edge.from, first, nodes), name_of(edge.to, first, nodes), edge.kind, indent);
            return;
        }
        for (std::uint32_t i = 0; i < plan->kernels; ++i)
            text_ += fmt::format("{}{} [shape=point];\n", indent, name_of(nodes + i, first, nodes));
        const detail::EdgeSet had(plan->edges);
        for (const detail::EdgeRecord& edge : graph.edges())
            if (!had.contains(edge))
                text_ += fmt::format("{}n{} -> n{} [{}];\n", indent, first + edge.from, first + edge.to, left_out);
        for (const detail::EdgeRecord& edge : plan->edges)
            write_edge(name_of(edge.from, first, nodes), name_of(edge.to, first, nodes), edge.kind, indent);
        next_kernel_ += plan->kernels;
    }

    /// Names a node of a graph with `nodes` nodes, numbered from `first` on; higher indices are kernels of a plan.
    [[nodiscard]] std::string name_of(std::uint32_t index, std::size_t first, std::uint32_t nodes) const {
        return index < nodes ? fmt::format("n{}", first + index) : fmt::format("k{}", next_kernel_ + index - nodes);
    }

    void write_edge(const std::string& from, const std::string& to, EdgeKind kind, const std::string& indent) {
        text_ += fmt::format("{}{} -> {}", indent, from, to);
        if (kind != EdgeKind::full) text_ += fmt::format(" [style=dashed, label=\"{}\"]", to_string(kind));
        text_ += ";\n";
    }

    void write_node(const detail::GraphState& graph, std::uint32_t index, std::size_t id, std::string_view style,
                    const std::string& indent) {
        const NodeRecord& node = graph.records().nodes()[index];
        const std::string label = node.label.empty() ? "" : escaped(node.label) + "\\n";
        std::string what = title(graph.records().params(index));
        if (what.empty()) what = to_string(node.kind);
        const std::string line =
            fmt::format("n{} [shape={}, label=\"{}{}\"{}{}];\n", id, detail::rules_of(node.kind).shape, label,
                        escaped(what), style.empty() ? "" : ", ", style);
        const auto inside = graph.nested_in(index);
        if (inside.empty()) {
            text_ += indent + line;
            return;
        }
        // A cluster without a label of its own would show the label of the one around it.
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

    static constexpr std::string_view left_out = "style=dashed, color=gray, fontcolor=gray";

    const std::vector<detail::PlannedGraph>& planned_;
    std::string text_;
    std::size_t next_ = 0;
    std::size_t next_kernel_ = 0;
};

} // namespace

std::string detail::dot_of(const GraphState& graph, const std::vector<PlannedGraph>& planned) {
    const auto lock = graph.lock();
    return DotWriter(graph, planned).text();
}

std::string Graph::dot() const {
    return detail::dot_of(state());
}

} // namespace cudag
