// The edges that CUDA has in a graph.
#include "native_edges.hpp"

#include "cuda/compat.hpp"
#include "cuda/edge_data.hpp"
#include "cuda/failure.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

namespace cudag::detail {

namespace {

bool precedes(const EdgeRecord& a, const EdgeRecord& b) {
    return std::tie(a.to, a.from, a.kind) < std::tie(b.to, b.from, b.kind);
}

/// CUDA 13.0 gives all edges of one call the data of the first.
std::size_t count_of_one_kind(std::span<const EdgeRecord> edges) {
    const auto other = [kind = edges.front().kind](const EdgeRecord& edge) { return edge.kind != kind; };
    return static_cast<std::size_t>(std::find_if(edges.begin(), edges.end(), other) - edges.begin());
}

} // namespace

void NativeEdges::add_missing(std::span<const EdgeRecord> wanted, std::size_t same, cudaGraph_t graph,
                              std::span<const cudaGraphNode_t> nodes) {
    const auto offset = static_cast<std::ptrdiff_t>(same);
    const auto differ = std::mismatch(list_.begin() + offset, list_.end(), wanted.begin() + offset, wanted.end());
    same = static_cast<std::size_t>(differ.first - list_.begin());
    const std::span rest = wanted.subspan(same);
    if (same == list_.size()) return add(rest, graph, nodes); // the usual case: CUDA has the first of them

    std::vector<EdgeRecord> present(list_.begin() + static_cast<std::ptrdiff_t>(same), list_.end());
    std::sort(present.begin(), present.end(), precedes);
    std::vector<EdgeRecord> missing;
    std::copy_if(rest.begin(), rest.end(), std::back_inserter(missing), [&](const EdgeRecord& edge) {
        return !std::binary_search(present.begin(), present.end(), edge, precedes);
    });
    add(missing, graph, nodes);
    if (list_.size() == wanted.size()) list_.assign(wanted.begin(), wanted.end()); // so that the next call is quick
}

void NativeEdges::add(std::span<const EdgeRecord> edges, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
    reserve(edges.size());
    while (!edges.empty()) {
        const std::size_t count = count_of_one_kind(edges);
        const auto from = std::make_unique_for_overwrite<cudaGraphNode_t[]>(count);
        const auto to = std::make_unique_for_overwrite<cudaGraphNode_t[]>(count);
        for (std::size_t i = 0; i < count; ++i) {
            from[i] = nodes[edges[i].from];
            to[i] = nodes[edges[i].to];
        }
        std::vector<cudaGraphEdgeData> data;
        if (edges.front().kind != EdgeKind::full) data.assign(count, native_data(edges.front().kind));
        checked<GraphError>(
            compat::graph_add_dependencies(graph, from.get(), to.get(), data.empty() ? nullptr : data.data(), count),
            "cudaGraphAddDependencies");
        list_.insert(list_.end(), edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(count));
        edges = edges.subspan(count);
    }
}

} // namespace cudag::detail
