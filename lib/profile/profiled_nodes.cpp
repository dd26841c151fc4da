// The nodes of an exec, for a profile.
#include "profiled_nodes.hpp"

#include "cuda/driver.hpp"
#include "cuda/kernel_name.hpp"
#include "exec/exec_state.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "graph/node_devices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

class Listing {
  public:
    explicit Listing(const ExecState& exec) : exec_(exec), nodes_{.exec = exec.native()} { bind_context(); }

    ExecNodes list() {
        add(exec_.source(), std::nullopt);
        list_inner(exec_.source());
        return std::move(nodes_);
    }

  private:
    void add(const GraphState& graph, std::optional<std::size_t> outer) {
        std::vector<std::size_t> place_of; ///< by index: its place in the list
        for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
            const std::size_t place = nodes_.profiled.nodes.size();
            place_of.push_back(place);
            add_node(graph, i, outer);
            for (const std::shared_ptr<GraphState>& inner : nested_in(graph, i))
                add(*inner, place);
        }
        for (const EdgeRecord& edge : edges_of(graph)) {
            nodes_.profiled.nodes[place_of[edge.to]].dependencies.push_back(place_of[edge.from]);
            nodes_.profiled.before[place_of[edge.to]].push_back(place_of[edge.from]);
        }
        add_planned(graph, place_of);
        places_.emplace(&graph, std::move(place_of));
    }

    /// Lists the graphs inside nodes of `graph` in the order in which an exec numbers their nodes.
    void list_inner(const GraphState& graph) {
        for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
            for (const std::shared_ptr<GraphState>& inner : nested_in(graph, i))
                nodes_.profiled.inner.push_back({std::move(places_.at(inner.get())), kernels_in(*inner)});
            for (const std::shared_ptr<GraphState>& inner : nested_in(graph, i))
                list_inner(*inner);
        }
    }

    void add_node(const GraphState& graph, std::uint32_t index, std::optional<std::size_t> outer) {
        const NodeRecord& record = records_of(graph).nodes()[index];
        const NodePlace place{&graph, index};
        const auto* const* kernel = std::get_if<const KernelParams*>(&exec_.effective().of(place));
        const int device = devices_.of(graph, index);
        nodes_.profiled.nodes.push_back({.label = std::string(without_nul(record.label)),
                                         .description = place.describe(),
                                         .kind = record.kind,
                                         .kernel = kernel == nullptr ? "" : kernel_name((*kernel)->function),
                                         .location = record.location,
                                         .device = device == any_device ? std::nullopt : std::optional(device),
                                         .outer = outer,
                                         .body = tree_of(graph).number()});
        nodes_.profiled.before.emplace_back();
        const auto* const* conditional = std::get_if<const ConditionalParams*>(&record.params);
        nodes_.profiled.is_loop.push_back(conditional != nullptr && (*conditional)->kind == ConditionalKind::while_);
        nodes_.natives.push_back(place.native());
    }

    /// Adds the edges of the plan: lanes make a node wait for others. Empty kernels of the plan only join edges that
    /// the graph has, too.
    void add_planned(const GraphState& graph, const std::vector<std::size_t>& place_of) {
        const PlannedEdges* const planned = find_planned(graph);
        if (planned == nullptr || planned->lanes == 0) return;
        for (const EdgeRecord& edge : planned->edges)
            if (std::max(edge.from, edge.to) < place_of.size())
                nodes_.profiled.before[place_of[edge.to]].push_back(place_of[edge.from]);
    }

    [[nodiscard]] const PlannedEdges* find_planned(const GraphState& graph) const {
        const auto planned = std::ranges::find(exec_.plan().graphs, &graph, &PlannedGraph::graph);
        return planned == exec_.plan().graphs.end() ? nullptr : planned->planned.get();
    }
    [[nodiscard]] std::size_t kernels_in(const GraphState& graph) const {
        const PlannedEdges* const planned = find_planned(graph);
        return planned == nullptr ? 0 : planned->kernels;
    }

    const ExecState& exec_;
    ExecNodes nodes_;
    NodeDevices devices_{};
    std::unordered_map<const GraphState*, std::vector<std::size_t>> places_{}; ///< of the nodes of each graph
};

} // namespace

ExecNodes nodes_of(const ExecState& exec) {
    const auto lock = lock_of(exec.source());
    read_all(exec.source());
    return Listing(exec).list();
}

} // namespace cudag::detail
