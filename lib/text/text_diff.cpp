// Differences between a graph and an earlier text.
#include "text_diff.hpp"

#include "graph/graph_identity.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "node/launch_attributes.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>

namespace cudag::detail {

namespace {

std::vector<TextEdge> sorted_edges(std::vector<TextEdge> edges) {
    const auto key = [](const TextEdge& edge) { return std::tuple(edge.from, edge.kind); };
    std::ranges::sort(edges, {}, key);
    const auto same = [&](const TextEdge& a, const TextEdge& b) { return key(a) == key(b); };
    edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end()); // not std::ranges: clang 14
    return edges;
}

bool edge_from_earlier(const TextEdge& a, const TextEdge& b) noexcept {
    return std::tuple(a.from, a.kind) < std::tuple(b.from, b.kind);
}

/// A node of a text, described like one of a graph without locations.
std::string describe_in_text(const std::vector<TextNode>& nodes, std::uint32_t index) {
    if (index >= nodes.size()) return fmt::format("node {}", index);
    const TextNode& node = nodes[index];
    const TextField* const conditional = node.find("conditional");
    const std::string kind(conditional != nullptr ? conditional->value : std::string(to_string(node.kind)));
    if (!node.label.empty()) return fmt::format("{} \"{}\"", kind, without_nul(node.label));
    const TextField* const kernel = node.kind == NodeKind::kernel ? node.find("kernel") : nullptr;
    return kernel != nullptr ? fmt::format("{} {}", kind, kernel->value) : fmt::format("{} node {}", kind, index);
}

/// The attribute of a kernel with this name; null if there is none.
const LaunchAttribute* attribute_named(std::string_view name) {
    const auto all = launch_attributes();
    const auto found = std::ranges::find_if(all, [&](const LaunchAttribute& each) { return each.name == name; });
    return found == all.end() ? nullptr : &*found;
}

/// The value of a field without a line: the default of an attribute.
std::string value_if_missing(std::string_view name) {
    const LaunchAttribute* const attribute = attribute_named(name);
    return attribute == nullptr ? "none" : attribute->text(LaunchConfig());
}

class TextDiff {
  public:
    TextDiff(const GraphDocument& document, const GraphDocument& text) : document_(document), text_(text) {}

    std::vector<Difference> run(const GraphState& graph) {
        compare(graph, document_.nodes, text_.nodes);
        structure_.insert(structure_.end(), std::make_move_iterator(fields_.begin()),
                          std::make_move_iterator(fields_.end()));
        return std::move(structure_);
    }

  private:
    using Nodes = std::vector<TextNode>;

    void compare(const GraphState& graph, const Nodes& before, const Nodes& after) {
        const std::size_t common = std::min(before.size(), after.size());
        for (std::uint32_t i = 0; i < common; ++i)
            if (before[i].kind != after[i].kind)
                structure_.push_back({DifferenceKind::node_kind,
                                      handle(graph, i),
                                      {},
                                      describe_node(graph, i),
                                      "kind",
                                      std::string(to_string(before[i].kind)),
                                      std::string(to_string(after[i].kind)),
                                      true});
        for (auto i = static_cast<std::uint32_t>(common); i < before.size(); ++i)
            structure_.push_back({DifferenceKind::node,
                                  handle(graph, i),
                                  {},
                                  describe_node(graph, i),
                                  "node",
                                  "there",
                                  "missing",
                                  true});
        for (auto i = static_cast<std::uint32_t>(common); i < after.size(); ++i)
            structure_.push_back(
                {DifferenceKind::node, {}, {}, describe_in_text(after, i), "node", "missing", "there", true});
        for (std::uint32_t i = 0; i < std::max(before.size(), after.size()); ++i)
            compare_edges(graph, i, before, after);
        for (std::uint32_t i = 0; i < common; ++i) {
            if (before[i].kind != after[i].kind) continue;
            compare_fields(graph, i, before[i], after[i]);
            compare_inner(graph, i, before[i], after[i]);
        }
    }

    void compare_edges(const GraphState& graph, std::uint32_t index, const Nodes& before, const Nodes& after) {
        const auto from = index < before.size() ? sorted_edges(before[index].after) : std::vector<TextEdge>();
        const auto to = index < after.size() ? sorted_edges(after[index].after) : std::vector<TextEdge>();
        std::vector<TextEdge> lost;
        std::vector<TextEdge> added;
        std::ranges::set_difference(from, to, std::back_inserter(lost), edge_from_earlier);
        std::ranges::set_difference(to, from, std::back_inserter(added), edge_from_earlier);
        const bool is_here = index < before.size();
        const auto add = [&](const TextEdge& edge, std::string_view of_edge, const char* old_value,
                             const char* new_value) {
            const std::string kind = edge.kind == EdgeKind::full ? "" : fmt::format("{} ", to_string(edge.kind));
            structure_.push_back({DifferenceKind::edge,
                                  is_here ? handle(graph, index) : Node(),
                                  {},
                                  is_here ? describe_node(graph, index) : describe_in_text(after, index),
                                  fmt::format("{}edge from {}", kind, of_edge),
                                  old_value,
                                  new_value,
                                  true});
        };
        for (const TextEdge& edge : lost)
            add(edge, describe_node(graph, edge.from), "there", "missing");
        for (const TextEdge& edge : added)
            add(edge, edge.from < before.size() ? describe_node(graph, edge.from) : describe_in_text(after, edge.from),
                "missing", "there");
    }

    void compare_fields(const GraphState& graph, std::uint32_t index, const TextNode& before, const TextNode& after) {
        const auto add = [&](const TextField& field, const std::string& old_value, const std::string& new_value) {
            fields_.push_back({field.kind,
                               handle(graph, index),
                               {},
                               describe_node(graph, index),
                               field.name,
                               old_value,
                               new_value,
                               field.needs_instantiate});
        };
        for (const TextField& field : before.fields) {
            const TextField* const other = after.find(field.name);
            if (other == nullptr)
                add(field, field.value, value_if_missing(field.name));
            else if (other->value != field.value)
                add(field, field.value, other->value);
            else if (field.name == "condition")
                compare_initial(field, add);
        }
        for (const TextField& field : after.fields)
            if (before.find(field.name) == nullptr) {
                TextField named = field;
                if (const LaunchAttribute* attribute = attribute_named(field.name); attribute != nullptr) {
                    named.kind = DifferenceKind::attribute;
                    named.needs_instantiate = attribute->rules.needs_instantiate;
                }
                add(named, value_if_missing(field.name), field.value);
            }
    }

    template <class Add>
    void compare_initial(const TextField& field, const Add& add) const {
        const auto initial = [&](const GraphDocument& document) -> std::string {
            for (std::size_t i = 0; i < document.conditions.size(); ++i)
                if (fmt::to_string(i) == field.value && document.conditions[i].initial)
                    return fmt::to_string(*document.conditions[i].initial);
                else if (fmt::to_string(i) == field.value && document.conditions[i].is_initial_unknown)
                    return "unknown";
            return "none";
        };
        TextField named = field;
        named.name = "initial value";
        if (initial(document_) != initial(text_)) add(named, initial(document_), initial(text_));
    }

    void compare_inner(const GraphState& graph, std::uint32_t index, const TextNode& before, const TextNode& after) {
        const auto inside = nested_in(graph, index);
        for (std::size_t i = 0; i < std::min(before.inner.size(), after.inner.size()); ++i)
            compare(*inside[i], before.inner[i].nodes, after.inner[i].nodes);
    }

    static Node handle(const GraphState& graph, std::uint32_t index) { return identity_of(graph).handle(index); }

    const GraphDocument& document_;
    const GraphDocument& text_;
    std::vector<Difference> structure_;
    std::vector<Difference> fields_;
};

} // namespace

std::vector<Difference> diff_document(const GraphState& graph, const GraphDocument& document,
                                      const GraphDocument& text) {
    return TextDiff(document, text).run(graph);
}

} // namespace cudag::detail
