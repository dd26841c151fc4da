// The logical and the native edges of a graph.
#include "graph_edges.hpp"

#include "edges/edge_set.hpp"

namespace cudag::detail {

void GraphEdges::write_needed(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
    try {
        const std::size_t known = reduction_.size();
        const std::vector<bool> implied = reduction_.add(nodes.size(), logical_.list());
        const EdgeSet recorded(std::span(native_.list()).subspan(native_known_));
        std::vector<EdgeRecord> needed;
        for (std::size_t i = 0; i < implied.size(); ++i) {
            const EdgeRecord& edge = logical_.list()[known + i];
            if (!implied[i] && !recorded.contains(edge)) needed.push_back(edge);
        }
        const bool are_next = native_.list().size() == written_ && needed.size() == logical_.size() - written_;
        native_.extend(needed, graph, nodes);
        native_known_ = native_.list().size();
        if (are_next) written_ = logical_.size();
    } catch (...) {
        forget_needed();
        throw;
    }
}

void GraphEdges::write_line(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
    if (native_.list().size() != written_) return;
    for (std::size_t i = written_; i < logical_.size(); ++i) {
        const auto node = static_cast<std::uint32_t>(i);
        if (logical_.list()[i] != EdgeRecord{node, node + 1}) return;
    }
    write_from(written_, graph, nodes);
}

} // namespace cudag::detail
