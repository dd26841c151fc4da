// Names and places of nodes about to be added.
#include "new_node.hpp"

#include "cuda/numbered_contexts.hpp"
#include "graph/construction.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "node/rules.hpp"

#include <cudag/format.hpp>

#include <utility>

namespace cudag::detail {

Subject new_node_subject(NodeKind kind, const SourceLocation& where, std::string_view name) {
    return {fmt::format("{}{}{} at {}", kind, name.empty() ? "" : " ", name, where), {}, where};
}

void refuse_destroyed(const SourceLocation& by) {
    refuse(fmt::format("the graph under construction was lost when the capture at {} failed; start again with a new "
                       "GraphBuilder",
                       by),
           {{}, {}, by});
}

void require_open(const GraphState& graph, Subject subject) {
    if (const auto& by = construction_of(graph).destroyed_by; by) refuse_destroyed(*by);
    if (identity_of(graph).is_orphan())
        refuse("this builder wrote a body that has thrown, or whose graph no longer exists; it takes no more nodes",
               std::move(subject));
    if (const GraphState* body = construction_of(graph).open_body; body != nullptr)
        refuse(fmt::format("it is added inside {} with the builder outside of it; use the body's builder",
                           describe_place(*body)),
               std::move(subject));
    if (const SourceLocation* region = construction_of(graph).open_region; region != nullptr)
        refuse(
            fmt::format("it is added while a stream is captured into the graph at {}; enqueue it into that stream, or "
                        "add it before or after the capture",
                        *region),
            std::move(subject));
    if (construction_of(graph).is_built && tree_of(graph).place() == Place::body)
        refuse(fmt::format("{} has ended; its nodes are added inside it", describe_place(graph)), std::move(subject));
    if (construction_of(graph).is_built)
        refuse(fmt::format("its Graph is built, at {}; nodes are added before build()", construction_of(graph).made_at),
               std::move(subject));
    if (tree_of(graph).place() != Place::body) return;
    const int device = place_here(graph);
    if (device == tree_of(graph).device()) return;
    if (is_context_number(device) || is_context_number(tree_of(graph).device()))
        refuse(fmt::format("it is on {}, and {} is on {}; all its nodes belong to that context", place_name(device),
                           describe_place(graph), place_name(tree_of(graph).device())),
               std::move(subject));
    refuse(fmt::format("the current device is {}, and {} is on device {}; all its nodes belong there", device,
                       describe_place(graph), tree_of(graph).device()),
           std::move(subject));
}

void require_fit(const GraphState& graph, NodeKind kind, const SourceLocation& where) {
    Subject subject = new_node_subject(kind, where);
    require_open(graph, subject);
    if (tree_of(graph).place() != Place::body) return;
    if (rules_of(kind).allowed_in_body) return;
    subject.labels.emplace_back(records_of(*tree_of(graph).parent()).nodes()[tree_of(graph).parent_node()].label);
    refuse(fmt::format("CUDA allows no {} node in the body of {}; put it before or after that node", kind,
                       describe_node(*tree_of(graph).parent(), tree_of(graph).parent_node())),
           std::move(subject));
}

} // namespace cudag::detail
