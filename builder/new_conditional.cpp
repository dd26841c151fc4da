// Additions of conditional nodes with their bodies.
#include "new_conditional.hpp"
#include "placed_in.hpp"

#include "cuda/failure.hpp"
#include "cuda/numbered_contexts.hpp"
#include "cuda/version.hpp"
#include "graph/check_edges.hpp"
#include "graph/names.hpp"
#include "own_kernel_nodes.hpp"
#include "require_allowed.hpp"

#include <cudag/format.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

bool is_repeated(const GraphState& graph) {
    if (graph.tree().parent() == nullptr) return false;
    const auto* node = std::get_if<const ConditionalParams*>(
        &graph.tree().parent()->records().nodes()[graph.tree().parent_node()].params);
    return (node != nullptr && (*node)->kind == ConditionalKind::while_) || is_repeated(*graph.tree().parent());
}

namespace {

Subject subject_of(ConditionalKind kind, const SourceLocation& where) {
    return {fmt::format("{} at {}", to_string(kind), where), {}, where};
}

void require_bodies(ConditionalKind kind, std::size_t bodies, const SourceLocation& where) {
    const auto subject = [&] { return subject_of(kind, where); };
    if (bodies == 0) refuse("it has no body; give it one at least", subject());
    if (kind == ConditionalKind::switch_) require_version(since::switch_nodes, "a switch", subject);
    if (kind == ConditionalKind::if_ && bodies == 2) require_version(since::else_bodies, "an if with an else", subject);
}

/// Returns the record of `condition`. Throws GraphError if a new node of `graph` may not test it.
ConditionRecord& require_free(GraphState& graph, ConditionalKind kind, const Condition& condition,
                              const SourceLocation& where) {
    GraphState& root = GraphIdentity::of(condition);
    if (&root != &graph.root())
        refuse(fmt::format("the condition belongs to another graph, to {}, while this is {}; builder.condition() makes "
                           "one of this graph",
                           describe_graph(root), describe_graph(graph)),
               subject_of(kind, where));
    ConditionRecord* record = root.conditions().find(condition.native());
    if (record == nullptr || record->abandoned)
        refuse("the condition was made in a body that has thrown; make another one", subject_of(kind, where));
    if (record->user != nullptr)
        refuse(fmt::format("the condition made at {} has a node already, {}; CUDA allows one", record->location,
                           describe_node(*record->user, record->node)),
               subject_of(kind, where));
    return *record;
}

/// Returns the nodes without incoming edges.
std::vector<std::uint32_t> roots_of(const GraphState& graph) {
    std::vector<bool> has_edge(graph.records().nodes().size());
    for (const EdgeRecord& edge : graph.edges())
        has_edge[edge.to] = true;
    std::vector<std::uint32_t> roots;
    for (std::uint32_t i = 0; i < has_edge.size(); ++i)
        if (!has_edge[i]) roots.push_back(i);
    return roots;
}

/// Adds a kernel that resets the condition of node `index`, a conditional of `body`, to its initial value; nothing if
/// it has none.
std::optional<Node> add_reset(GraphState& body, std::uint32_t index) {
    const NodeRecord node = body.records().nodes()[index]; // a copy: the list is about to grow
    const auto* params = std::get_if<const ConditionalParams*>(&node.params);
    const ConditionRecord* condition =
        params == nullptr ? nullptr : body.root().conditions().find((*params)->condition);
    if (condition == nullptr || !condition->initial) return std::nullopt;
    const std::string name =
        node.label.empty() ? fmt::format("{} node {}", kind_text(node), index) : std::string(node.label);
    return add_set_condition(body, condition->handle, *condition->initial, "reset of " + name, node.location);
}

/// Adds kernels to a repeated body that reset the conditions of its conditionals, because CUDA assigns initial values
/// only once per launch. They precede everything else in the body: values set later by its kernels hold.
void reset_conditions(GraphState& body) {
    if (!is_repeated(body)) return;
    const PlacedIn device(
        body, body.tree().device()); // the function that wrote the body may have left another device current
    const std::vector<std::uint32_t> roots = roots_of(body);
    const auto count = static_cast<std::uint32_t>(body.records().nodes().size());
    std::vector<Node> resets;
    for (std::uint32_t i = 0; i < count; ++i)
        if (body.records().nodes()[i].kind == NodeKind::conditional)
            if (const auto reset = add_reset(body, i)) resets.push_back(*reset);
    constexpr std::size_t few = 64; // number of edges; above it, all meet in the last reset
    if (resets.size() > 1 && resets.size() * roots.size() > few) {
        add_edges(resets.back(), resets.data(), resets.size() - 1);
        resets.erase(resets.begin(), resets.end() - 1);
    }
    if (resets.empty()) return;
    for (const std::uint32_t root : roots)
        add_edges(body.identity().handle(root), resets.data(), resets.size());
}

/// Frees the conditions tested by node `index` of `graph`, or by nodes inside it, before the node goes.
void free_conditions(GraphState& graph, std::uint32_t index, Conditions& conditions) noexcept {
    if (const auto* params = std::get_if<const ConditionalParams*>(&graph.records().record(index).params))
        if (ConditionRecord* condition = conditions.find((*params)->condition); condition != nullptr)
            condition->user = nullptr;
    for (const auto& inner : graph.nested_in(index))
        for (std::uint32_t i = 0; i < inner->records().nodes().size(); ++i)
            free_conditions(*inner, i, conditions);
}

} // namespace

NewConditional::NewConditional(GraphState& graph, ConditionalKind kind, const Condition& condition, std::size_t bodies,
                               const SourceLocation& where)
    : graph_(graph), conditions_before_(graph.root().conditions().count()),
      index_(static_cast<std::uint32_t>(graph.records().nodes().size())) {
    require_allowed(graph, NodeKind::conditional, where);
    require_bodies(kind, bodies, where);
    ConditionRecord& record = require_free(graph, kind, condition, where);
    const int device = place_here(graph);
    if (record.device != device)
        refuse(is_context_number(device) || is_context_number(record.device)
                   ? fmt::format("it is on {}, the condition was made on {}; both belong to one context: make the "
                                 "condition by the same view of the builder",
                                 place_name(device), place_name(record.device))
                   : fmt::format("the current device is {}, the condition was made on device {}; both belong to one "
                                 "device",
                                 device, record.device),
               subject_of(kind, where));
    const auto* params =
        graph.records().memory().store(ConditionalParams{kind, record.handle, static_cast<std::uint32_t>(bodies)});
    graph.reserve_node();
    graph.reserve_nested(bodies);

    cudaGraphNode_t node = nullptr;
    const cudaGraph_t* natives = nullptr;
    if (const NativeResult added = add_native(node, graph.native(), *params, natives); added.status != cudaSuccess)
        raise_call<GraphError>(added.status, added.operation, subject_of(kind, where));
    graph.append(node, {NodeKind::conditional, params, {}, where});
    record.user = &graph;
    record.node = index_;
    try {
        add_bodies(natives, bodies, device);
    } catch (...) {
        remove();
        throw;
    }
}

void NewConditional::add_bodies(cudaGraph_t const* natives, std::size_t count, int device) {
    for (std::size_t i = 0; i < count; ++i) {
        auto body = std::make_shared<GraphState>(natives[i]);
        graph_.attach(std::move(body), index_, Place::body, device);
    }
}

NewConditional::~NewConditional() {
    if (!kept_) remove();
}

void NewConditional::remove() noexcept {
    graph_.construction().open_body = nullptr;
    if (!graph_.construction()
             .destroyed_by) { // else the root is out of use with its conditions, and no longer above this graph
        Conditions& conditions = graph_.root().conditions();
        free_conditions(graph_, index_, conditions);
        conditions.abandon_from(conditions_before_);
    }
    graph_.remove_last();
}

std::shared_ptr<GraphState> NewConditional::open_body(std::size_t number) {
    body_ = graph_.nested_in(index_)[number];
    graph_.construction().open_body = body_.get();
    return body_;
}

void NewConditional::close_loaded_body() {
    check_body();
    end_body();
}

void NewConditional::close_body() {
    check_body();
    reset_conditions(*body_);
    end_body();
}

void NewConditional::check_body() {
    require_not_destroyed(*body_);
    if (body_->construction().has_unwanted_nodes)
        refuse(
            "a node could not be removed, after a capture threw or by remove(), because CUDA has kept it, as it does "
            "in a graph with memory nodes; let the exception leave the body",
            {describe_place(*body_)}, cudaErrorNotSupported);
    check_edges(*body_, [this] { return describe_place(*body_); });
    body_->edge_lists().merge(body_->records().nodes().size());
}

void NewConditional::end_body() noexcept {
    body_->construction().is_built = true;
    graph_.construction().open_body = nullptr;
}

Node NewConditional::keep() noexcept {
    kept_ = true;
    return graph_.identity().handle(index_);
}

} // namespace cudag::detail
