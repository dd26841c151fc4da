// Names of nodes and graphs in errors and reports.
#include "names.hpp"

#include "construction.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/numbered_contexts.hpp"
#include "graph_identity.hpp"
#include "graph_records.hpp"
#include "graph_tree.hpp"
#include "node_record.hpp"

#include <cudag/format.hpp>

#include <utility>

namespace cudag::detail {

std::string_view kind_text(const NodeRecord& node) noexcept {
    if (const auto* conditional = std::get_if<const ConditionalParams*>(&node.params))
        return to_string((*conditional)->kind);
    return to_string(node.kind);
}

namespace {

/// Names a node without its place in the source.
std::string name_node(const GraphState& graph, std::uint32_t index) {
    const NodeRecord& record = records_of(graph).nodes()[index];
    const std::string_view kind = kind_text(record);
    const auto* const* kernel = std::get_if<const KernelParams*>(&record.params);
    if (!record.label.empty()) {
        std::string name = fmt::format("{} \"{}\"", kind, without_nul(record.label));
        const bool is_captured =
            kernel != nullptr && (*kernel)->symbol == nullptr; // then other nodes may share its label
        if (is_captured) name += fmt::format(" ({})", kernel_name((*kernel)->function));
        return name;
    }
    if (kernel != nullptr) return fmt::format("kernel {} (node {})", kernel_name((*kernel)->function), index);
    return fmt::format("{} node {}", kind, index);
}

} // namespace

std::string describe_node(const GraphState& graph, std::uint32_t index) {
    const NodeRecord& record = records_of(graph).nodes()[index];
    std::string name = name_node(graph, index);
    if (tree_of(graph).parent() != nullptr)
        name += " inside " + name_node(*tree_of(graph).parent(), tree_of(graph).parent_node());
    if (record.device != any_device) name += " on " + place_name(record.device);
    if (record.location.line != 0) name += fmt::format(" at {}", record.location);
    return name;
}

std::string describe_place(const GraphState& graph) {
    if (tree_of(graph).parent() == nullptr) return "the graph itself";
    std::string text;
    if (tree_of(graph).place() == Place::body) {
        const std::size_t bodies = nested_in(*tree_of(graph).parent(), tree_of(graph).parent_node()).size();
        text = bodies == 1 ? "the body of " : fmt::format("body {} of ", tree_of(graph).number());
    }
    return text + describe_node(*tree_of(graph).parent(), tree_of(graph).parent_node());
}

std::string quoted_name(const GraphState& graph) {
    const std::string& name = construction_of(root_of(graph)).name;
    return name.empty() ? std::string() : fmt::format(" \"{}\"", name);
}

std::string describe_graph(const GraphState& graph) {
    const GraphState& root = root_of(graph);
    const Construction& made = construction_of(root);
    if (made.made_at.line != 0)
        return fmt::format("{}{} made at {}",
                           identity_of(root).is_clone() && !made.is_exec_copy ? "the clone of the graph" : "the graph",
                           quoted_name(root), made.made_at);
    if (!construction_of(root).name.empty()) return "the graph" + quoted_name(root);
    const char* name = construction_of(root).is_built ? "the graph" : "the graph under construction";
    if (records_of(root).nodes().empty()) return fmt::format("{} without nodes", name);
    return fmt::format("{} that begins with {}", name, describe_node(root, 0));
}

namespace {

/// Finds the clone, in `graph`, of the graph of `node`; null if there is none.
const GraphState* find_clone(const GraphState& graph, const Node& node) {
    if (identity_of(graph).is_of_origin(node)) return &graph;
    for (const auto& inner : nested_of(graph))
        if (const GraphState* found = find_clone(*inner, node)) return found;
    return nullptr;
}

} // namespace

std::string describe_foreign(const GraphState& here, const Node& node) {
    const GraphState& owner = GraphIdentity::of(node);
    if (const GraphState* clone = find_clone(root_of(here), node)) {
        if (identity_of(root_of(here)).is_clone())
            return "to the one that this was cloned from; the clone's counterpart(node) is the handle here";
        while (identity_of(*tree_of(*clone).parent()).is_clone())
            clone = tree_of(*clone).parent();
        return fmt::format("to the one of which {} has a clone inside; its inside(node) is the handle here",
                           describe_node(*tree_of(*clone).parent(), tree_of(*clone).parent_node()));
    }
    if (identity_of(root_of(owner)).is_clone_of(identity_of(root_of(here))))
        return "to a clone of this one; use the handle that the clone's counterpart() was given";
    return fmt::format("to {}, while this is {}", describe_graph(owner), describe_graph(here));
}

Subject node_subject(const GraphState& graph, std::uint32_t index, std::string_view action) {
    const NodeRecord& record = records_of(graph).nodes()[index];
    return {std::string(action) + describe_node(graph, index), {std::string(record.label)}, record.location};
}

} // namespace cudag::detail
