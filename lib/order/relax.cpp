// relax: reduces the edges of a graph to the necessary order.
#include <cudag/relax.hpp>

#include "accesses/race_search.hpp"
#include "accesses/relaxation.hpp"
#include "cuda/failure.hpp"
#include "graph/exec_count.hpp"
#include "graph/find.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_memos.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"
#include "graph/names.hpp"
#include "graph/native_graph.hpp"
#include "graph_race_watch.hpp"
#include "node/rules.hpp"
#include "node_accesses.hpp"
#include "races.hpp"
#include "tracking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// Throws GraphError if the edges of `graph` must not or cannot be changed.
void require_changeable(const GraphState& graph) {
    require_root(graph, "relax");
    if (is_borrowed(graph)) refuse("relax: the graph is a view, which does not own its edges; relax a clone");
    if (execs_of(graph).any())
        refuse("relax: an Exec of the graph is alive and has its edges; relax the graph before instantiate(), or relax "
               "a clone");
    if (const NodePlace node = find_memory_node(graph))
        refuse("CUDA removes no edges of a graph with memory nodes: allocate before the graph", node.subject("relax: "),
               cudaErrorNotSupported);
}

/// Returns the edges of `graph`. Those to waiting kernels are full: their waits give them the same order.
std::vector<EdgeRecord> edges_to_relax(const GraphState& graph) {
    std::vector<EdgeRecord> edges = edges_of(graph);
    if (!records_of(graph).special().waits) return edges;
    for (EdgeRecord& edge : edges) {
        const auto* const* kernel = std::get_if<const KernelParams*>(&records_of(graph).nodes()[edge.to].params);
        const bool waits = kernel != nullptr && declares_wait(**kernel);
        if (waits && edge.kind == EdgeKind::programmatic) edge.kind = EdgeKind::full;
    }
    return edges;
}

/// The relaxed edges of one graph, and the reasons for its staying nodes.
class Relaxation {
  public:
    Relaxation(GraphState& graph, std::vector<StayingNode>& staying)
        : graph_(graph), staying_(staying), stays_(records_of(graph).nodes().size()) {
        for (std::uint32_t i = 0; i < stays_.size(); ++i)
            if (const auto reason = why_untracked(graph, i))
                stay(i, {identity_of(graph).handle(i), reason->reason,
                         identity_of(*reason->inside.graph).handle(reason->inside.index), reason->argument});
        const std::vector<EdgeRecord> written = edges_to_relax(graph);
        for (const EdgeRecord& edge : written) {
            if (edge.kind == EdgeKind::full) continue;
            stay(edge.from, StayReason::early_edge);
            stay(edge.to, StayReason::early_edge);
        }
        AccessList accesses = access_list_of(graph, Sizes::most);
        const std::vector<bool> driven = driven_nodes(graph);
        if (!driven.empty() && !find_races(accesses, stays_.size(), written, 1).empty()) {
            stay_where_driven(driven);
            accesses = access_list_of(graph);
        }
        // Otherwise staying nodes before a join, and after it, would get edges each to each.
        if (records_of(graph).special().joins) stay_with_others();
        edges_ = relaxed_edges(accesses, stays_.size(), written, stays_, declared_regions());
    }

    [[nodiscard]] GraphState& graph() const noexcept { return graph_; }
    [[nodiscard]] std::vector<EdgeRecord>& edges() noexcept { return edges_; }

  private:
    void stay(std::uint32_t node, const StayingNode& why) {
        if (stays_[node]) return;
        stays_[node] = true;
        staying_.push_back(why);
    }
    void stay(std::uint32_t node, StayReason reason) {
        stay(node, {identity_of(graph_).handle(node), reason, identity_of(graph_).handle(node)});
    }
    /// Keeps driven nodes in their place. If there are races at the largest sizes, the order of the graph does not
    /// determine the order that these sizes need.
    void stay_where_driven(const std::vector<bool>& driven) {
        for (std::uint32_t i = 0; i < stays_.size(); ++i)
            if (driven[i]) stay(i, StayReason::driven);
    }
    /// By node; empty if no work was captured into the graph.
    [[nodiscard]] std::vector<RegionPart> declared_regions() const {
        std::vector<RegionPart> parts;
        if (records_of(graph_).units().empty()) return parts;
        for (std::uint32_t i = 0; i < stays_.size(); ++i) {
            RegionPart part{records_of(graph_).units().of(i)};
            for_each_declared(graph_, i, [&](const ArgumentAccess& access) {
                part.is_declared = part.is_declared || (part.region != 0 && access.unit == part.region);
            });
            parts.push_back(part);
        }
        return parts;
    }
    void stay_with_others() {
        const std::vector<bool> others = stays_;
        for (const EdgeRecord& edge : edges_of(graph_)) {
            if (others[edge.from] && records_of(graph_).nodes()[edge.to].kind == NodeKind::empty)
                stay(edge.to, StayReason::join);
            if (others[edge.to] && records_of(graph_).nodes()[edge.from].kind == NodeKind::empty)
                stay(edge.from, StayReason::join);
        }
    }

    GraphState& graph_;
    std::vector<StayingNode>& staying_;
    std::vector<bool> stays_;
    std::vector<EdgeRecord> edges_;
};

void relax_all(GraphState& graph, std::vector<StayingNode>& staying, std::vector<Relaxation>& all) {
    all.emplace_back(graph, staying);
    for (const auto& inner : nested_of(graph))
        relax_all(*inner, staying, all);
}

std::string why_it_stays(const StayingNode& staying) {
    switch (staying.reason) {
    case StayReason::untracked:
        return describe_untracked(staying.argument);
    case StayReason::undeclared:
        return describe_untracked(whole_node);
    case StayReason::condition:
        return "it depends on a condition, or may set one";
    case StayReason::outside:
        return "it orders work outside the graph";
    case StayReason::early_edge:
        return "a programmatic or launch-completion edge leads to it, or from it";
    case StayReason::updatable:
        return "kernels may change what it does";
    case StayReason::join:
        return "nodes next to it stay";
    case StayReason::driven:
        return "a DynamicParam drives its size, and at the largest sizes there would be races";
    }
    return "?";
}

} // namespace

} // namespace detail

RelaxReport relax(Graph& graph) {
    detail::GraphState& state = detail::Access::state(graph);
    read_all(state);
    const auto lock = lock_of(state);
    detail::require_changeable(state);
    // of children, too, since other graphs reject them when built
    for_each_graph(state, [](const detail::GraphState& each) { refuse_races(each, "relax"); });
    RelaxReport report{};
    std::vector<detail::Relaxation> all;
    relax_all(state, report.staying, all);
    report.longest_path_before = detail::longest_path(records_of(state).nodes().size(), edges_of(state));
    report.longest_path_after = detail::longest_path(records_of(state).nodes().size(), all.front().edges());
    for (detail::Relaxation& each : all) {
        report.edges_before += edges_of(each.graph()).size();
        report.edges_after += each.edges().size();
    }
    for (detail::Relaxation& each : all)
        edge_lists_of(each.graph()).rewrite(std::move(each.edges()));
    memos_of(state).forget();
    return report;
}

std::string to_string(const StayingNode& staying) {
    const std::string inside = staying.inside == staying.node ? "" : fmt::format("{}: ", to_string(staying.inside));
    return fmt::format("{}: {}{}", to_string(staying.node), inside, detail::why_it_stays(staying));
}

std::string to_string(const RelaxReport& report) {
    std::string text =
        fmt::format("{} edges became {}; the longest path has {} nodes, before it had {}", report.edges_before,
                    report.edges_after, report.longest_path_after, report.longest_path_before);
    if (report.staying.empty()) return text;
    text += fmt::format("; {} nodes stay where they are:", report.staying.size());
    for (const StayingNode& staying : report.staying)
        text += "\n  " + to_string(staying);
    return text;
}

} // namespace cudag
