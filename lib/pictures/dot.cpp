// Graphs as Graphviz text.
#include "dot.hpp"

#include <cudag/format.hpp>
#include <cudag/graph.hpp>

#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/numbered_contexts.hpp"
#include "data_flow.hpp"
#include "dot_text.hpp"
#include "edges/edge_set.hpp"
#include "edges/reduction.hpp"
#include "folding.hpp"
#include "graph/construction.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/node_devices.hpp"
#include "handles/text.hpp"
#include "node/rules.hpp"
#include "node_look.hpp"
#include "order/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

namespace {

using detail::Block;
using detail::EdgeRecord;
using detail::FoldedGraph;
using detail::GraphState;
using detail::PlannedEdges;
using detail::PlannedGraph;
using detail::RepeatedBlock;

constexpr std::string_view left_out = "style=dashed, color=gray, fontcolor=gray";

std::string filled(std::string_view color) {
    return color.empty() ? "" : fmt::format("style=filled, fillcolor=\"{}\"", color);
}

/// Light colours that black text is readable on, as far apart as possible.
std::string_view color_of_device(std::int32_t device) {
    static constexpr std::string_view colors[] = {"#cfe2f3", "#fce5cd", "#d9ead3", "#ead1dc",
                                                  "#fff2cc", "#d9d2e9", "#d0e0e3", "#f4cccc"};
    if (detail::is_context_number(device))
        return colors[static_cast<std::size_t>(detail::shown_number(device)) % std::size(colors)];
    return device < 0 ? std::string_view() : colors[static_cast<std::size_t>(device) % std::size(colors)];
}

/// Darker for a larger share of the whole, in five steps; none for 0.
std::string_view color_of_share(double share) {
    static constexpr std::string_view colors[] = {"#fff5eb", "#fdd0a2", "#fdae6b", "#fd8d3c", "#e6550d"};
    return share > 0 ? colors[std::min<std::size_t>(static_cast<std::size_t>(share * 5), 4)] : std::string_view();
}

/// Writes a graph as text. A graph inside a node is a cluster in the cluster of its node.
class DotWriter {
  public:
    DotWriter(const GraphState& graph, const DotOptions& options, const std::vector<PlannedGraph>& planned,
              const std::vector<Race>& races)
        : options_(options), planned_(planned), races_(races) {
        for (const Race& race : races)
            for (const Node& node : {race.first, race.second})
                in_races_.insert({&detail::GraphIdentity::of(node), detail::GraphIdentity::index_unchecked(node)});
        for (const double duration : options.durations)
            longest_ = std::max(longest_, duration);
        text_ = "digraph cudag {\n";
        if (const std::string& name = construction_of(root_of(graph)).name; !name.empty())
            text_ += fmt::format("    label=\"{}\";\n", detail::quoted_in_dot(name));
        write(graph, "    ", 0);
        text_ += "}\n";
    }
    [[nodiscard]] std::string&& text() && noexcept { return std::move(text_); }

  private:
    static constexpr std::size_t deepest = 128; ///< largest indent: the text grows with the nodes, not their depth

    /// The names of the first and of the last nodes of a part.
    struct Ends {
        std::vector<std::string> first;
        std::vector<std::string> last;
    };

    void write(const GraphState& graph, const std::string& indent, std::size_t level) {
        const std::size_t first = next_;
        next_ += records_of(graph).nodes().size();
        const auto found = std::ranges::find(planned_, &graph, &PlannedGraph::graph);
        if (found != planned_.end() && found->planned != nullptr)
            write_planned(graph, *found->planned, first, indent, level);
        else if (options_.fold)
            write_folded(graph, first, indent, level);
        else
            write_all(graph, first, indent, level);
    }

    void write_all(const GraphState& graph, std::size_t first, const std::string& indent, std::size_t level) {
        const auto nodes = static_cast<std::uint32_t>(records_of(graph).nodes().size());
        for (std::uint32_t i = 0; i < nodes; ++i)
            write_node(graph, i, first + i, {}, "", indent, level);
        for (const EdgeRecord& edge : edges_of(graph))
            write_edge(node_name(first + edge.from), node_name(first + edge.to), edge.kind, indent);
        if (options_.data)
            for (const detail::DataFlow& flow : data_flows(graph))
                write_flow(first + flow.from, first + flow.to, flow.bytes, indent);
        for (const Race& race : races_)
            if (&detail::GraphIdentity::of(race.first) == &graph)
                text_ += fmt::format("{}n{} -> n{} [dir=none, constraint=false, color=red, fontcolor=red, "
                                     "label=\"race\"];\n",
                                     indent, first + detail::GraphIdentity::index_unchecked(race.first),
                                     first + detail::GraphIdentity::index_unchecked(race.second));
    }

    void write_planned(const GraphState& graph, const PlannedEdges& plan, std::size_t first, const std::string& indent,
                       std::size_t level) {
        const auto nodes = static_cast<std::uint32_t>(records_of(graph).nodes().size());
        std::vector<bool> is_left_out(nodes);
        for (const detail::JoinRecord& join : plan.joins)
            if (join.node != detail::JoinRecord::no_node && join.form != JoinForm::node) is_left_out[join.node] = true;
        for (std::uint32_t i = 0; i < nodes; ++i)
            write_node(graph, i, first + i, is_left_out[i] ? left_out : "", "", indent, level);
        const auto name_of = [&](std::uint32_t index) {
            return index < nodes ? node_name(first + index) : fmt::format("k{}", next_kernel_ + index - nodes);
        };
        for (std::uint32_t i = 0; i < plan.kernels; ++i)
            text_ += fmt::format("{}{} [shape=point];\n", indent, name_of(nodes + i));
        const detail::EdgeSet had(plan.edges);
        for (const EdgeRecord& edge : edges_of(graph))
            if (!had.contains(edge))
                text_ += fmt::format("{}n{} -> n{} [{}];\n", indent, first + edge.from, first + edge.to, left_out);
        for (const EdgeRecord& edge : plan.edges)
            write_edge(name_of(edge.from), name_of(edge.to), edge.kind, indent);
        next_kernel_ += plan.kernels;
    }

    void write_folded(const GraphState& graph, std::size_t first, const std::string& indent, std::size_t level) {
        std::vector<std::uint32_t> looks;
        for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i)
            looks.push_back(numbers_.try_emplace(look_of(graph, i, level), static_cast<std::uint32_t>(numbers_.size()))
                                .first->second);
        const FoldedGraph folded = detail::folded(looks, detail::reduced(looks.size(), edges_of(graph)));
        std::map<std::uint32_t, Ends> ends;
        for (const std::uint32_t top : folded.tops)
            ends[top] = write_block(graph, folded, {top, 1}, false, first, indent, level);
        for (const EdgeRecord& edge : folded.edges)
            connect(ends[edge.from].last, ends[edge.to].first, edge.kind, indent);
    }

    /// Writes a part once. In a part that repeats, labels show "#" for numbers.
    Ends write_block(const GraphState& graph, const FoldedGraph& folded, const RepeatedBlock& part, bool is_repeated,
                     std::size_t first, const std::string& indent, std::size_t level) {
        const Block& block = folded.blocks[part.block];
        std::string times = part.times == 1 ? "" : fmt::format("x {}", part.times);
        if (part.between != EdgeKind::full) times += fmt::format(", {}", part.between);
        is_repeated = is_repeated || part.times != 1;
        if (block.form == Block::Form::node) {
            const std::size_t id = first + block.node;
            write_node(graph, block.node, id, {}, times, indent, level, is_repeated);
            return {{node_name(id)}, {node_name(id)}};
        }
        const bool is_cluster = !times.empty();
        if (is_cluster)
            text_ += fmt::format("{0}subgraph cluster_r{1} {{\n{0}    label=\"{2}\"; style=rounded;\n", indent,
                                 next_repeated_++, times);
        const std::string deeper = is_cluster && indent.size() < deepest ? indent + "    " : indent;
        Ends all;
        for (const RepeatedBlock& each : block.parts) {
            Ends ends = write_block(graph, folded, each, is_repeated, first, deeper, level);
            if (block.form == Block::Form::beside) {
                all.first.insert(all.first.end(), ends.first.begin(), ends.first.end());
                all.last.insert(all.last.end(), ends.last.begin(), ends.last.end());
                continue;
            }
            if (&each == &block.parts.front())
                all.first = std::move(ends.first);
            else
                connect(all.last, ends.first, each.kind, deeper);
            all.last = std::move(ends.last);
        }
        if (is_cluster) text_ += indent + "}\n";
        return all;
    }

    void connect(const std::vector<std::string>& from, const std::vector<std::string>& to, EdgeKind kind,
                 const std::string& indent) {
        for (const std::string& before : from)
            for (const std::string& after : to)
                write_edge(before, after, kind, indent);
    }

    /// A text that is the same for equal nodes.
    std::string look_of(const GraphState& graph, std::uint32_t index, std::size_t level) const {
        std::string look =
            fmt::format("{}\n{}\n{}\n{}", records_of(graph).nodes()[index].kind, operation_of(graph, index),
                        detail::without_numbers(records_of(graph).nodes()[index].label), style_of(graph, index, level));
        if (options_.parameters) look += arguments_of(graph, index);
        for (const auto& inner : nested_in(graph, index)) {
            look += "{";
            for (std::uint32_t i = 0; i < records_of(*inner).nodes().size(); ++i)
                look += level < options_.depth ? look_of(*inner, i, level + 1) : ".";
            for (const EdgeRecord& edge : edges_of(*inner))
                look += fmt::format("{}>{} {},", edge.from, edge.to, edge.kind);
            look += "}";
        }
        return look;
    }

    [[nodiscard]] std::string style_of(const GraphState& graph, std::uint32_t index, std::size_t level) const {
        const detail::NodeRecord& node = records_of(graph).nodes()[index];
        switch (options_.color) {
        case DotColor::kind:
            return filled(detail::rules_of(node.kind).color);
        case DotColor::device:
            return filled(color_of_device(device_of(graph, index)));
        case DotColor::race:
            return in_races_.contains({&graph, index}) ? filled("#ff9999") : "";
        case DotColor::duration:
            return filled(color_of_share(duration_of(index, level) / longest_));
        default:
            return "";
        }
    }

    /// The device of a node, or the number of its context.
    [[nodiscard]] static int device_of(const GraphState& graph, std::uint32_t index) {
        const int given = records_of(graph).nodes()[index].device;
        if (given != detail::any_device || detail::is_only_device()) return given;
        detail::bind_context();
        return detail::NodeDevices().of(graph, index);
    }

    /// The duration of a node; 0 if it is unknown, as inside inner graphs.
    [[nodiscard]] double duration_of(std::uint32_t index, std::size_t level) const {
        return options_.color == DotColor::duration && level == 0 && index < options_.durations.size()
                   ? options_.durations[index]
                   : 0;
    }

    static std::string node_name(std::size_t id) { return fmt::format("n{}", id); }

    void write_edge(const std::string& from, const std::string& to, EdgeKind kind, const std::string& indent) {
        text_ += fmt::format("{}{} -> {}", indent, from, to);
        if (kind != EdgeKind::full) text_ += fmt::format(" [style=dashed, label=\"{}\"]", to_string(kind));
        text_ += ";\n";
    }

    void write_flow(std::size_t from, std::size_t to, std::size_t bytes, const std::string& indent) {
        text_ += fmt::format("{}n{} -> n{} [constraint=false, color=blue, fontcolor=blue, label=\"{} bytes\"];\n",
                             indent, from, to, bytes);
    }

    void write_node(const GraphState& graph, std::uint32_t index, std::size_t id, std::string_view style,
                    const std::string& times, const std::string& indent, std::size_t level, bool is_repeated = false) {
        const detail::NodeRecord& node = records_of(graph).nodes()[index];
        std::string label(node.label);
        if (is_repeated) label = detail::without_numbers(label);
        std::vector<std::string> lines;
        if (!label.empty()) lines.push_back(std::move(label));
        lines.push_back(operation_of(graph, index));
        if (options_.parameters)
            if (std::string values = arguments_of(graph, index); !values.empty()) lines.push_back(std::move(values));
        const auto inside = nested_in(graph, index);
        const bool is_open = level < options_.depth;
        if (!is_open)
            for (const auto& inner : inside)
                lines.push_back(count_nodes(*inner));
        if (const double duration = duration_of(index, level); duration > 0 && !is_repeated)
            lines.push_back(fmt::format("{:.3g} us", duration));
        if (!times.empty()) lines.push_back(times);
        const std::string colors = style.empty() ? style_of(graph, index, level) : std::string(style);
        const std::string line = fmt::format(
            "n{} [shape={}, label=\"{}\"{}{}];\n", id, detail::rules_of(node.kind).shape,
            detail::quoted_in_dot(fmt::format("{}", fmt::join(lines, "\n"))), colors.empty() ? "" : ", ", colors);
        if (inside.empty() || !is_open) {
            text_ += indent + line;
            return;
        }
        // A cluster without a label of its own would show the label of the one around it.
        text_ += fmt::format("{0}subgraph cluster_n{1} {{\n{0}    label=\"\";\n{0}    {2}", indent, id, line);
        const std::string deeper = indent.size() < deepest ? indent + "        " : indent;
        for (std::size_t number = 0; number < inside.size(); ++number) {
            text_ += fmt::format("{0}    subgraph cluster_n{1}_{2} {{\n{0}        label=\"{3}\";\n", indent, id, number,
                                 role_of_inner(graph, index, number));
            write(*inside[number], deeper, level + 1);
            text_ += indent + "    }\n";
        }
        text_ += indent + "}\n";
    }

    const DotOptions& options_;
    const std::vector<PlannedGraph>& planned_;
    const std::vector<Race>& races_;
    std::set<std::pair<const GraphState*, std::uint32_t>> in_races_;
    std::map<std::string, std::uint32_t> numbers_; ///< of looks
    double longest_ = 0;                           ///< duration of a node
    std::string text_;
    std::size_t next_ = 0;
    std::size_t next_kernel_ = 0;
    std::size_t next_repeated_ = 0;
};

} // namespace

std::string detail::dot_of(const GraphState& graph, const DotOptions& options,
                           const std::vector<PlannedGraph>& planned) {
    read_all(graph);
    const auto lock = lock_of(graph);
    const std::vector<Race> races = options.color == DotColor::race ? all_races_of(graph) : std::vector<Race>();
    return DotWriter(graph, options, planned, races).text();
}

std::string Graph::dot(const DotOptions& options) const {
    return detail::dot_of(state(), options, {});
}

} // namespace cudag
