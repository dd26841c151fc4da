// Native edges: the edges of CUDA's graph.
#include "native_edges.hpp"

#include "cuda/compat.hpp"
#include "cuda/edge_data.hpp"
#include "cuda/failure.hpp"
#include "edges/edge_set.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

namespace cudag::detail {

namespace {

std::vector<EdgeRecord> by_target(std::span<const EdgeRecord> edges) {
    std::vector<EdgeRecord> list(edges.begin(), edges.end());
    std::stable_sort(list.begin(), list.end(), [](const EdgeRecord& a, const EdgeRecord& b) { return a.to < b.to; });
    return list;
}

struct Changes {
    std::vector<EdgeRecord> removed;
    std::vector<EdgeRecord> added;
};

/// Computes the changes from `present` to `wanted` for a caller that removes all of `removed` before it adds `added`.
Changes changes_between(std::span<const EdgeRecord> present, std::span<const EdgeRecord> wanted) {
    const std::vector<EdgeRecord> old_edges = by_target(present);
    const std::vector<EdgeRecord> new_edges = by_target(wanted);
    Changes changes;
    auto old_edge = old_edges.begin();
    auto new_edge = new_edges.begin();
    while (old_edge != old_edges.end() || new_edge != new_edges.end()) {
        const bool is_next =
            new_edge == new_edges.end() || (old_edge != old_edges.end() && old_edge->to < new_edge->to);
        const std::uint32_t target = is_next ? old_edge->to : new_edge->to;
        const auto is_of_other = [&](const EdgeRecord& edge) { return edge.to != target; };
        const auto old_end = std::find_if(old_edge, old_edges.end(), is_of_other);
        const auto new_end = std::find_if(new_edge, new_edges.end(), is_of_other);
        std::tie(old_edge, new_edge) = std::mismatch(old_edge, old_end, new_edge, new_end);
        changes.removed.insert(changes.removed.end(), old_edge, old_end);
        changes.added.insert(changes.added.end(), new_edge, new_end);
        old_edge = old_end;
        new_edge = new_end;
    }
    return changes;
}

/// The leading edges of a list, in CUDA's form. They are of one kind: CUDA 13.0 gives all edges of one call the data of
/// the first.
class NativePairs {
  public:
    NativePairs(std::span<const EdgeRecord> edges, std::span<const cudaGraphNode_t> nodes)
        : size_(count_of_one_kind(edges)), from_(std::make_unique_for_overwrite<cudaGraphNode_t[]>(size_)),
          to_(std::make_unique_for_overwrite<cudaGraphNode_t[]>(size_)) {
        for (std::size_t i = 0; i < size_; ++i) {
            from_[i] = nodes[edges[i].from];
            to_[i] = nodes[edges[i].to];
        }
        if (edges.front().kind != EdgeKind::full) data_.assign(size_, native_data(edges.front().kind));
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const cudaGraphNode_t* from() const noexcept { return from_.get(); }
    [[nodiscard]] const cudaGraphNode_t* to() const noexcept { return to_.get(); }
    [[nodiscard]] const cudaGraphEdgeData* data() const noexcept { return data_.empty() ? nullptr : data_.data(); }

  private:
    static std::size_t count_of_one_kind(std::span<const EdgeRecord> edges) {
        const auto other = [kind = edges.front().kind](const EdgeRecord& edge) { return edge.kind != kind; };
        return static_cast<std::size_t>(std::find_if(edges.begin(), edges.end(), other) - edges.begin());
    }

    std::size_t size_;
    std::unique_ptr<cudaGraphNode_t[]> from_;
    std::unique_ptr<cudaGraphNode_t[]> to_;
    std::vector<cudaGraphEdgeData> data_;
};

} // namespace

void NativeEdges::renumber(const Renumbering& next) noexcept {
    const auto makes_sink = [&](const EdgeRecord& edge) { return next.keeps(edge.from) && !next.keeps(edge.to); };
    have_sinks_moved_ = have_sinks_moved_ || std::any_of(list_.begin(), list_.end(), makes_sink);
    detail::renumber(list_, next);
    for (Front& front : fronts_) {
        front.nodes = next.kept_of(front.nodes);
        std::erase_if(front.list, [&](std::uint32_t node) { return !next.keeps(node); });
        for (std::uint32_t& node : front.list)
            node = next(node);
    }
}

void NativeEdges::become(std::span<const EdgeRecord> wanted, std::size_t same, cudaGraph_t graph,
                         std::span<const cudaGraphNode_t> nodes) {
    const auto offset = static_cast<std::ptrdiff_t>(same);
    const auto differ = std::mismatch(list_.begin() + offset, list_.end(), wanted.begin() + offset, wanted.end());
    same = static_cast<std::size_t>(differ.first - list_.begin());
    const std::span rest = wanted.subspan(same);
    if (same == list_.size()) return extend(rest, graph, nodes); // the usual case

    const Changes changes = changes_between(std::span(list_).subspan(same), rest);
    remove(changes.removed, graph, nodes);
    add(changes.added, graph, nodes);
    list_.assign(wanted.begin(), wanted.end()); // in the wanted order: the next call is quick
}

void NativeEdges::extend(std::span<const EdgeRecord> more, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
    add(more, graph, nodes);
}

/// Returns the sinks among `nodes` nodes, in the order in which they became sinks.
std::vector<std::uint32_t> NativeEdges::sinks(std::size_t nodes) const {
    constexpr std::size_t never = 0;
    std::vector<std::size_t> sunk_at(nodes);
    std::size_t now = never;
    auto front = fronts_.begin();
    for (std::size_t node = 0; node <= nodes; ++node) {
        for (; front != fronts_.end() && front->nodes == node; ++front)
            for (const std::uint32_t last : front->list)
                sunk_at[last] = ++now;
        if (node < nodes) sunk_at[node] = ++now;
    }
    for (const EdgeRecord& edge : list_)
        sunk_at[edge.from] = never;
    std::vector<std::uint32_t> found;
    for (std::uint32_t node = 0; node < nodes; ++node)
        if (sunk_at[node] != never) found.push_back(node);
    std::sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) { return sunk_at[a] < sunk_at[b]; });
    return found;
}

/// Adds and removes an edge from each sink to the first one, so that CUDA lists the sinks in this order.
void NativeEdges::restore_sinks(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
    if (!have_sinks_moved_) return;
    const std::vector<std::uint32_t> all = sinks(nodes.size());
    std::vector<EdgeRecord> passing;
    for (std::size_t i = 1; i < all.size(); ++i)
        passing.push_back({all[i], all.front()});
    add(passing, graph, nodes);
    remove(passing, graph, nodes);
    have_sinks_moved_ = false;
}

void NativeEdges::add(std::span<const EdgeRecord> edges, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
    reserve(edges.size());
    while (!edges.empty()) {
        const NativePairs pairs(edges, nodes);
        checked<GraphError>(compat::graph_add_dependencies(graph, pairs.from(), pairs.to(), pairs.data(), pairs.size()),
                            "cudaGraphAddDependencies");
        list_.insert(list_.end(), edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(pairs.size()));
        edges = edges.subspan(pairs.size());
    }
}

void NativeEdges::remove(std::span<const EdgeRecord> edges, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
    have_sinks_moved_ = have_sinks_moved_ || !edges.empty();
    while (!edges.empty()) {
        const NativePairs pairs(edges, nodes);
        const EdgeSet gone(edges.first(pairs.size()));
        checked<GraphError>(
            compat::graph_remove_dependencies(graph, pairs.from(), pairs.to(), pairs.data(), pairs.size()),
            "cudaGraphRemoveDependencies");
        std::erase_if(list_, [&](const EdgeRecord& edge) { return gone.contains(edge); });
        edges = edges.subspan(pairs.size());
    }
}

} // namespace cudag::detail
