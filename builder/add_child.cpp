// Additions of child graphs: clones made by CUDA, or moved graphs.
#include "body_copies.hpp"
#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "cuda/version.hpp"
#include "graph/clone_natives.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "graph_writer.hpp"
#include "require_allowed.hpp"

#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>

#include <utility>

namespace cudag::detail {

namespace {

/// Throws if CUDA cannot have `inner` inside a node of `graph`.
void require_child(const GraphState& graph, const GraphState& inner, const SourceLocation& where) {
    const auto refuse_for = [&](const NodePlace& node, const std::string& reason) {
        Subject subject = new_node_subject(NodeKind::child, where);
        subject.labels.emplace_back(node.record().label);
        refuse(fmt::format("its graph has {}; {}", node.describe(), reason), std::move(subject), cudaErrorNotSupported);
    };
    require_root(inner, "child");
    if (const NodePlace node = find_unlike(inner, &KindRules::allowed_in_child))
        refuse_for(node, fmt::format("CUDA allows no {}s in a child graph: write them into the outer graph, as "
                                     "inline_graph(graph) does",
                                     node.record().kind));
    if (!graph.tree().is_in_body()) return;
    if (const NodePlace node = find_unlike(inner, &KindRules::allowed_in_body))
        refuse_for(node, fmt::format("CUDA allows no {} node in {}", node.record().kind, describe_place(graph)));
    const char* reason = nullptr;
    const auto is_no_body_copy = [&](const GraphState& g, std::uint32_t i) {
        reason = why_not_in_body(g.records().params(i));
        return reason != nullptr;
    };
    if (const NodePlace node = find_node(inner, is_no_body_copy))
        refuse_for(node, fmt::format("{} takes no such copy: {}", describe_place(graph), reason));
}

} // namespace

Node add_child(GraphState& graph, GraphState& source, const SourceLocation& where) {
    require_allowed(graph, NodeKind::child, where);
    const auto lock = source.lock();
    require_child(graph, source, where);
    if (const NodePlace node = find_unlike(source, &KindRules::can_be_cloned)) {
        require_version(since::moved_children, "a child with graph memory",
                        [&] { return new_node_subject(NodeKind::child, where); });
        read_all(source);
        return move_child(graph, written_clone(source, "child", where), where);
    }
    if (const NodePlace node = find_device_updatable(source))
        refuse(fmt::format("its graph has {}, which kernels of a clone would change instead of their own; move the "
                           "graph: child(std::move(graph))",
                           node.describe()),
               new_node_subject(NodeKind::child, where), cudaErrorNotSupported);
    source.complete_native();
    read_all(source);
    graph.reserve_node();

    const WithoutUserObjects plain(source);
    cudaGraphNode_t node = nullptr;
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_GRAPH);
    params.graph.graph = source.native(); // CUDA clones it
    if (const CUresult result = add_native_node(node, graph.native(), params); result != CUDA_SUCCESS)
        raise_call<GraphError>(to_runtime(result), add_node_call, new_node_subject(NodeKind::child, where),
                               Api::driver);
    const Node handle = graph.append(node, {NodeKind::child, std::monostate(), {}, where});
    try {
        const auto inner = std::make_shared<GraphState>(child_graph_of(node), source);
        inner->set_owns_native(false);
        graph.reserve_nested(*inner);
        graph.attach(inner, GraphIdentity::index_unchecked(handle), Place::child);
        inner->replace_natives(natives_in(*inner, inner->native()));
    } catch (...) {
        graph.remove_last();
        throw;
    }
    return handle;
}

Node move_child(GraphState& graph, const std::shared_ptr<GraphState>& inner, const SourceLocation& where) {
    require_allowed(graph, NodeKind::child, where);
    require_child(graph, *inner, where);
    if (inner->is_borrowed())
        refuse("its graph is a view, which owns no CUDA graph to move; pass it without std::move: it is cloned",
               new_node_subject(NodeKind::child, where));
    if (inner->execs().any())
        refuse(
            "an Exec of its graph is alive, and CUDA runs a graph inside another one only; destroy the Exec first, or "
            "pass the graph without std::move: it is cloned",
            new_node_subject(NodeKind::child, where));
    require_version(since::moved_children,
                    "moving a graph into another one (a clone does not: pass it without std::move)",
                    [&] { return new_node_subject(NodeKind::child, where); });
    inner->complete_native();
    graph.reserve_node();
    graph.reserve_nested(*inner);

    cudaGraphNode_t node = nullptr;
    const cudaError_t status = compat::graph_move_child(&node, graph.native(), inner->native());
    if (status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphAddNode", new_node_subject(NodeKind::child, where));
    const Node handle = graph.append(node, {NodeKind::child, std::monostate(), {}, where});
    graph.attach(inner, GraphIdentity::index_unchecked(handle), Place::child);
    return handle;
}

} // namespace cudag::detail
