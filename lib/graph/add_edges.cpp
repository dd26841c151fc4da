// Additions of logical edges by node handles.
#include "cuda/failure.hpp"
#include "graph_state.hpp"
#include "names.hpp"

#include <cudag/format.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace cudag::detail {

namespace {

const Node& node_of(const Node& source) {
    return source;
}
const Node& node_of(const Dependency& source) {
    return source.node;
}
EdgeKind edge_kind_of(const Node&) {
    return EdgeKind::full;
}
EdgeKind edge_kind_of(const Dependency& source) {
    return source.kind;
}

[[noreturn]] void refuse_built(const GraphState& graph, Subject&& subject) {
    if (graph.tree().place() == Place::body)
        refuse("the body that it is in has ended; edges are added inside it", std::move(subject));
    refuse(graph.construction().made_at.line == 0
               ? "its Graph is built; edges are added before build()"
               : fmt::format("its Graph is built, at {}; edges are added before build()", graph.construction().made_at),
           std::move(subject));
}

/// Writes a long line to CUDA while it grows. Graphs with memory nodes, whose edges CUDA cannot remove, and graphs
/// with inferred edges get their edges with the plan.
void write_line(GraphState& graph) {
    constexpr std::size_t least = 4096; // edges: shorter lines fit in the cache as a whole
    const Construction& construction = graph.construction();
    if (graph.edge_lists().logical().size() < least) return;
    if (graph.tree().place() != Place::root || construction.is_captured_into ||
        construction.options.dependencies != Dependencies::as_written || graph.records().special().memory)
        return;
    graph.edge_lists().write_line(graph.native(), graph.records().natives());
}

template <class Sources>
void add_edges_from(const Node& to, const Sources& sources) {
    GraphState& graph = GraphIdentity::of(to);
    const std::uint32_t target = GraphIdentity::index_unchecked(to);
    const auto subject = [&] { return node_subject(graph, target, "after: "); };
    if (graph.construction().is_built) [[unlikely]]
        refuse_built(graph, subject());
    Edges& edges = graph.edge_lists().logical();
    const std::size_t before = edges.size();
    try {
        for (const auto& from : sources) {
            const std::uint32_t source = index_of(graph, node_of(from), "after");
            if (source == target) [[unlikely]]
                refuse("a node cannot come after itself", subject());
            edges.add({source, target, edge_kind_of(from)});
        }
        if (edges.size() % GraphEdges::line_at_once == 0) [[unlikely]]
            write_line(graph);
    } catch (...) {
        edges.take_back(before);
        throw;
    }
}

} // namespace

void add_edges(const Node& to, const Node* from, std::size_t count) {
    add_edges_from(to, std::span(from, count));
}
void add_edges(const Node& to, const Dependency* from, std::size_t count) {
    add_edges_from(to, std::span(from, count));
}

} // namespace cudag::detail
