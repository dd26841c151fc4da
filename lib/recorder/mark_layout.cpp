// The places of marks in a graph.
#include "mark_layout.hpp"

#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/node_record.hpp"

#include <cstddef>

namespace cudag::detail {

MarkLayout mark_layout(const GraphState& graph) {
    const std::vector<NodeRecord>& nodes = records_of(graph).nodes();
    const std::size_t total = nodes.size() + edge_lists_of(graph).plan().kernels.size();
    MarkLayout layout{.is_marked = std::vector<bool>(total),
                      .needs_end = std::vector<bool>(total),
                      .before = std::vector<std::vector<std::uint32_t>>(total),
                      .after = std::vector<std::vector<std::uint32_t>>(total)};
    for (std::size_t i = 0; i < nodes.size(); ++i)
        layout.is_marked[i] = layout.needs_end[i] = nodes[i].kind != NodeKind::empty;
    for (const EdgeRecord& edge : edge_lists_of(graph).native()) {
        if (edge.kind != EdgeKind::full) continue;
        layout.before[edge.to].push_back(edge.from);
        if (layout.is_marked[edge.to]) layout.after[edge.from].push_back(edge.to);
    }
    for (std::size_t i = 0; i < total; ++i)
        if (layout.is_marked[i] && layout.before[i].size() == 1) layout.needs_end[layout.before[i].front()] = false;
    return layout;
}

} // namespace cudag::detail
