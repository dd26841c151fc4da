// Descriptions of captured nodes, and edges of the nodes written between them.
#include "capture_records.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "graph/check_edges.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/native_graph.hpp"
#include "read/edge_reader.hpp"
#include "read/reader.hpp"

#include <utility>

namespace cudag::detail {

CaptureRecords::CaptureRecords(std::shared_ptr<GraphState> graph, std::uint32_t natives, const SourceLocation& begun_at)
    : graph_(std::move(graph)), begun_at_(begun_at),
      first_(static_cast<std::uint32_t>(records_of(*graph_).nodes().size())), first_native_(natives),
      natives_(natives) {}

void CaptureRecords::catch_up(std::span<const cudaGraphNode_t> front) {
    std::size_t count = 0;
    checked<GraphError>(cudaGraphGetNodes(native_of(*graph_), nullptr, &count), "cudaGraphGetNodes");
    if (count == natives_) return;
    std::vector<cudaGraphNode_t> nodes;
    if (front.size() == 1) nodes = EdgeReader::line_to(*graph_, front.front(), count - natives_);
    if (nodes.empty()) nodes = nodes_from(native_of(*graph_), natives_);
    static_cast<void>(describe_region(*graph_, std::move(nodes), begun_at_));
    natives_ = static_cast<std::uint32_t>(count);
}

std::vector<cudaGraphNode_t> CaptureRecords::connect(std::uint32_t first, std::size_t first_edge,
                                                     std::span<const cudaGraphNode_t> front) {
    has_written_ = true;
    GraphEdges& edges = edge_lists_of(*graph_);
    const auto count = static_cast<std::uint32_t>(records_of(*graph_).nodes().size()) - first;
    std::vector<bool> has_before(count);
    std::vector<bool> has_after(count);
    for (std::size_t i = first_edge; i < edges.logical().size(); ++i) {
        const EdgeRecord& edge = edges.logical().list()[i];
        if (edge.from < first || edge.to < first) continue;
        has_before[edge.to - first] = true;
        has_after[edge.from - first] = true;
    }
    std::vector<cudaGraphNode_t> tails;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!has_after[i]) tails.push_back(records_of(*graph_).natives()[first + i]);
        if (has_before[i]) continue;
        for (const cudaGraphNode_t node : front)
            edges.logical().add({records_of(*graph_).find_native(node), first + i, EdgeKind::full});
    }
    settle_edges(*graph_, "add");
    edges.write_from(first_edge, native_of(*graph_), records_of(*graph_).natives());
    natives_ += count;
    return tails;
}

void CaptureRecords::name(const CaptureNames& names) {
    name_nodes(*graph_, first_, first_native_, names);
}

} // namespace cudag::detail
