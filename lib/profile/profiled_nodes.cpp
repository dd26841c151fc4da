// The nodes of an exec, for a profile.
#include "profiled_nodes.hpp"

#include "cuda/kernel_name.hpp"
#include "exec/exec_state.hpp"
#include "graph/names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

class Listing {
  public:
    explicit Listing(const ExecState& exec) : exec_(exec), nodes_{.natives = {exec.native()}} {}

    ExecNodes list() {
        add(exec_.source(), std::nullopt);
        return std::move(nodes_);
    }

  private:
    void add(const GraphState& graph, std::optional<std::size_t> outer) {
        std::vector<std::size_t> place_of; ///< by index: its place in the list
        for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i) {
            const std::size_t place = nodes_.profiled.nodes.size();
            place_of.push_back(place);
            add_node(graph, i, outer);
            for (const std::shared_ptr<GraphState>& inner : graph.nested_in(i))
                add(*inner, place);
        }
        for (const EdgeRecord& edge : graph.edges()) {
            nodes_.profiled.nodes[place_of[edge.to]].dependencies.push_back(place_of[edge.from]);
            nodes_.profiled.before[place_of[edge.to]].push_back(place_of[edge.from]);
        }
        add_planned(graph, place_of);
    }

    void add_node(const GraphState& graph, std::uint32_t index, std::optional<std::size_t> outer) {
        const NodeRecord& record = graph.records().nodes()[index];
        const NodePlace place{&graph, index};
        const auto* const* kernel = std::get_if<const KernelParams*>(&exec_.params(place));
        nodes_.profiled.nodes.push_back({.label = std::string(without_nul(record.label)),
                                         .description = place.describe(),
                                         .kind = record.kind,
                                         .kernel = kernel == nullptr ? "" : kernel_name((*kernel)->function),
                                         .location = record.location,
                                         .outer = outer,
                                         .body = graph.tree().number()});
        nodes_.profiled.before.emplace_back();
        nodes_.natives.nodes.push_back(place.native());
    }

    /// Adds the edges of the plan: lanes make a node wait for others. Empty kernels of the plan only join edges that
    /// the graph has, too.
    void add_planned(const GraphState& graph, const std::vector<std::size_t>& place_of) {
        const auto planned = std::ranges::find(exec_.planned(), &graph, &PlannedGraph::graph);
        if (planned == exec_.planned().end() || planned->planned->lanes == 0) return;
        for (const EdgeRecord& edge : planned->planned->edges)
            if (std::max(edge.from, edge.to) < place_of.size())
                nodes_.profiled.before[place_of[edge.to]].push_back(place_of[edge.from]);
    }

    const ExecState& exec_;
    ExecNodes nodes_;
};

} // namespace

ExecNodes nodes_of(const ExecState& exec) {
    const auto lock = exec.source().lock();
    read_all(exec.source());
    return Listing(exec).list();
}

} // namespace cudag::detail
