// The loops of a graph: the kernels with their conditions, which end them.
#include "loops.hpp"

#include "cuda/failure.hpp"
#include "cuda/version.hpp"
#include "edges/edge_groups.hpp"
#include "graph/condition_arguments.hpp"
#include "graph/conditions.hpp"
#include "graph/find.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "graph/node_record.hpp"
#include "node/kernel_attributes.hpp"
#include "own_kernel_nodes.hpp"
#include "placed_in.hpp"

#include <cudag/condition.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

namespace {

using Handle = cudaGraphConditionalHandle;

struct Loop {
    const ConditionRecord& condition;
    bool is_around = false; ///< whether the current kernel is in its body
    bool can_end = false;
    bool is_set_outside = false;
};

class Loops {
  public:
    explicit Loops(const GraphState& root) : root_(root) {
        for (const ConditionRecord& condition : conditions_of(root).all())
            if (condition.user != nullptr && !condition.abandoned && !condition.is_read &&
                is_loop(*condition.user, condition.node))
                loops_.emplace(condition.handle, Loop{condition});
        if (!loops_.empty()) visit(root_);
    }

    [[nodiscard]] const std::vector<Node>& setters() const noexcept { return setters_; }

    void require_ends() const {
        for (const ConditionRecord& condition : conditions_of(root_).all()) // in the order of their creation
            if (const auto loop = loops_.find(condition.handle); loop != loops_.end() && is_endless(loop->second))
                refuse_loop(condition);
    }

  private:
    static bool is_loop(const GraphState& graph, std::uint32_t index) {
        const auto* conditional = std::get_if<const ConditionalParams*>(&records_of(graph).nodes()[index].params);
        return conditional != nullptr && (*conditional)->kind == ConditionalKind::while_;
    }

    void visit(const GraphState& graph) {
        for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
            const NodeRecord& node = records_of(graph).nodes()[i];
            if (const auto* kernel = std::get_if<const KernelParams*>(&records_of(graph).params(i))) {
                if (look_at(**kernel)) setters_.push_back(identity_of(graph).handle(i));
            }
            const auto inside = nested_in(graph, i);
            if (inside.empty()) continue;
            const auto* conditional = std::get_if<const ConditionalParams*>(&node.params);
            const auto loop = conditional == nullptr ? loops_.end() : loops_.find((*conditional)->condition);
            if (loop != loops_.end()) loop->second.is_around = true;
            for (const auto& inner : inside)
                visit(*inner);
            if (loop != loops_.end()) loop->second.is_around = false;
        }
    }

    /// Whether the kernel takes the condition of a loop around it.
    bool look_at(const KernelParams& kernel) {
        if (is_own_kernel(kernel)) return false; // resets conditions of conditionals in the same body
        bool is_setter = false;
        for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
            const Parameter& parameter = kernel.signature->parameters[i];
            const std::byte* value = kernel.values + parameter.offset;
            if (is_condition(parameter))
                is_setter |= takes(handle_at(value), true);
            else if (parameter.type != ParameterType::pointer && parameter.type != ParameterType::span)
                is_setter |= look_for_handles(value, parameter.size);
        }
        return is_setter;
    }

    /// Looks for handles in an object: any eight bytes may be a handle, a whole Condition certainly has one.
    bool look_for_handles(const std::byte* bytes, std::uint32_t size) {
        bool is_setter = false;
        for (std::uint32_t at = 0; at + sizeof(Handle) <= size;) {
            const Handle handle = handle_at(bytes + at);
            const bool whole = at + sizeof(Condition) <= size && is_whole_condition(root_, handle, bytes + at);
            is_setter |= takes(handle, whole, size == sizeof(Handle));
            at += whole ? static_cast<std::uint32_t>(sizeof(Condition)) : 1U;
        }
        return is_setter;
    }

    static Handle handle_at(const std::byte* bytes) {
        Handle handle = 0;
        std::memcpy(&handle, bytes, sizeof handle);
        return handle;
    }

    /// Notes a handle and returns whether it makes the kernel a setter. A handle neither certain nor likely does not:
    /// graphs that differ in values alone are updates of each other, so chance values must not change the structure.
    bool takes(Handle handle, bool certain, bool likely = false) {
        const auto found = loops_.find(handle);
        if (found == loops_.end()) return false;
        if (found->second.is_around)
            found->second.can_end = true;
        else if (certain)
            found->second.is_set_outside = true;
        return (certain || likely) && found->second.is_around;
    }

    /// Whether the loop never ends. A loop does not run at all if its condition begins with 0 and is never set.
    static bool is_endless(const Loop& loop) {
        if (loop.can_end || (loop.condition.initial == 0U && !loop.is_set_outside)) return false;
        const GraphState& graph = *loop.condition.user;
        for (const auto& body : nested_in(graph, loop.condition.node))
            if (find_node(*body, is_unknown)) return false;
        return true;
    }

    /// Whether the arguments of a kernel are unknown.
    static bool is_unknown(const GraphState& graph, std::uint32_t index) {
        const auto* kernel = std::get_if<const KernelParams*>(&records_of(graph).params(index));
        return kernel != nullptr && !is_own_kernel(**kernel) &&
               (((*kernel)->symbol == nullptr && (*kernel)->signature->count == 0) || is_device_updatable(**kernel));
    }

    [[noreturn]] static void refuse_loop(const ConditionRecord& condition) {
        refuse(fmt::format("it never ends: no kernel in its body takes its condition, made at {}; pass it to a kernel "
                           "that eventually sets it to 0, as in body.kernel(config, kernel, condition, ...)",
                           condition.location),
               node_subject(*condition.user, condition.node, "build: "));
    }

    const GraphState& root_;
    std::unordered_map<Handle, Loop> loops_;
    std::vector<Node> setters_;
};

/// Finds, for each node, whether other nodes than empty ones depend on it.
std::vector<bool> followed_nodes(const GraphState& graph) {
    const auto& edges = edges_of(graph);
    const EdgeGroups incoming(records_of(graph).nodes().size(), edges, &EdgeRecord::to);
    const auto is_empty = [&](std::uint32_t node) { return records_of(graph).nodes()[node].kind == NodeKind::empty; };
    std::vector<bool> followed(records_of(graph).nodes().size());
    std::vector<std::uint32_t> waiting; // empty nodes with unmarked predecessors
    const auto follow = [&](std::uint32_t node) {
        if (!followed[node] && is_empty(node)) waiting.push_back(node);
        followed[node] = true;
    };
    for (const EdgeRecord& edge : edges)
        if (!is_empty(edge.to)) follow(edge.from);
    while (!waiting.empty()) {
        const std::uint32_t node = waiting.back();
        waiting.pop_back();
        for (std::uint32_t item = incoming.first[node]; item < incoming.first[node + 1]; ++item)
            follow(edges[incoming.items[item]].from);
    }
    return followed;
}

} // namespace

void check_loops(const GraphState& graph) {
    if (conditions_of(graph).all().empty()) return;
    Loops(graph).require_ends();
}

void end_turns(GraphState& root) {
    if (conditions_of(root).count() < 2) return;
    const Loops loops(root);
    if (loops.setters().empty() || cuda_version() < since::kernels_from_images) return;
    std::unordered_map<const GraphState*, std::vector<bool>> followed; // without the nodes added here
    for (const Node& setter : loops.setters()) {
        GraphState& body = GraphIdentity::of(setter);
        const std::uint32_t index = GraphIdentity::index_unchecked(setter);
        if (tree_of(body).place() != Place::body) continue;
        const auto [known, is_new] = followed.try_emplace(&body);
        if (is_new) known->second = followed_nodes(body);
        if (known->second[index]) continue;
        const PlacedIn device(body, tree_of(body).device());
        Edges& edges = edge_lists_of(body).logical();
        edges.reserve(1);
        const SourceLocation where = records_of(body).record(index).location; // a copy: the list is about to grow
        add_nothing(body, "end of a turn", where);
        edges.add_settled(index, static_cast<std::uint32_t>(records_of(body).nodes().size()) - 1);
    }
}

} // namespace cudag::detail
