// Removal of nodes from a graph under construction, with everything that depends on their indices.
#include "cuda/failure.hpp"
#include "graph_state.hpp"
#include "names.hpp"
#include "owners/reclaim.hpp"
#include "region_nodes.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// Makes the records of the nodes dropped by `next`, for errors about their handles.
std::vector<RemovedNode> removed_nodes(const GraphState& graph, const Renumbering& next, const SourceLocation& where) {
    std::vector<RemovedNode> removed;
    removed.reserve(graph.records().nodes().size() - next.kept());
    for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i) {
        if (next.keeps(i)) continue;
        const NodeRecord& node = graph.records().nodes()[i];
        removed.push_back({graph.identity().number_of(i), kind_text(node), node.label, node.location, where});
    }
    return removed;
}

} // namespace

void GraphState::remove(std::span<const std::uint32_t> gone, const SourceLocation& where) {
    if (gone.empty()) return;
    const Renumbering next(records_.known_nodes(), gone);
    std::vector<RemovedNode> removed = removed_nodes(*this, next, where);
    identity_.reserve_removed(removed.size());
    std::vector<std::shared_ptr<const void>> owners; // dropped last, as are the graphs: they run user code
    owners.reserve(owners_.count_gone(next));
    std::vector<std::shared_ptr<GraphState>> graphs;
    graphs.reserve(tree_.count_gone_graphs(next));

    destroy_natives(gone);
    renumber(next, std::move(removed), graphs, owners);
    for (const auto& graph : graphs) {
        graph->invalidate_handles();
        drop_owners(*graph);
    }
    graphs.clear();
    owners.clear();
    reclaim();
}

/// Destroys the newest node first: CUDA finds it soonest.
void GraphState::destroy_natives(std::span<const std::uint32_t> nodes) {
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        const cudaError_t status = cudaGraphDestroyNode(records_.natives()[*node]);
        if (status == cudaSuccess) continue;
        if (node == nodes.rbegin())
            raise_call<GraphError>(status, "cudaGraphDestroyNode", node_subject(*this, *node, "remove: "));
        ignore(status);
        construction_.has_unwanted_nodes = true;
    }
}

void GraphState::renumber(const Renumbering& next, std::vector<RemovedNode>&& removed,
                          std::vector<std::shared_ptr<GraphState>>& graphs,
                          std::vector<std::shared_ptr<const void>>& owners) noexcept {
    identity_.add_removed(std::move(removed));
    tree_.renumber(next, graphs);
    const auto is_gone = [&](const GraphState& graph) { return &graph.root() != &root(); };
    if (!graphs.empty()) changes().forget(is_gone);
    root().conditions_.renumber(*this, next);
    records_.renumber(next);
    edges_.renumber(next);
    owners_.renumber(next, owners);
    std::erase_if(construction_.regions, [&](const RegionNodes* region) {
        return GraphIdentity::find_removed(identity_.numbered(region->first)) != nullptr;
    });
}

} // namespace cudag::detail
