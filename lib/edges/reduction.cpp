// Transitive reduction: edges implied by other edges.
#include "reduction.hpp"

#include "edge_groups.hpp"
#include "lists/none.hpp"
#include "topological_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>

namespace cudag::detail {

namespace {

/// An edge to a node, by places.
struct Incoming {
    std::uint32_t from;
    std::uint32_t edge;
};

/// Nodes are named here by their places in a topological order. A candidate is an edge whose source has an earlier
/// outgoing edge and whose target has a later incoming one; no other can be implied. A sweep along the order records,
/// for each node, its predecessors among 512 sources of candidates, one bit each.
class Reduction {
  public:
    Reduction(std::size_t nodes, const std::vector<EdgeRecord>& edges, const std::vector<bool>& keeps_all)
        : first_(nodes + 1), states_(edges.size()) {
        sort_edges(edges);
        find_candidates(edges, keeps_all);
    }

    /// Sweeps the latest sources first: sweeps of earlier sources need not follow edges already removed.
    std::vector<bool> run() {
        for (std::size_t end = sources_.size(); end > 0;) {
            const std::size_t begin = end - std::min(end, sources_per_sweep);
            sweep(begin, end);
            end = begin;
        }
        if (!any_) return {};
        std::vector<bool> implied(states_.size());
        for (std::size_t i = 0; i < states_.size(); ++i)
            implied[i] = states_[i] == EdgeState::implied;
        return implied;
    }

  private:
    enum class EdgeState : char { needed, candidate, implied };
    static constexpr std::size_t sources_per_sweep = 512;
    using Row = std::array<std::uint64_t, sources_per_sweep / 64>;

    struct Source {
        std::uint32_t node;
        std::uint32_t last; ///< the last target of a candidate from it
    };

    /// Groups full edges by target, the latest source first.
    void sort_edges(const std::vector<EdgeRecord>& edges) {
        std::vector<std::uint32_t> place;
        if (!are_forward(edges)) {
            const EdgeGroups outgoing(first_.size() - 1, edges, &EdgeRecord::from);
            const std::vector<std::uint32_t> order = topological_order(edges, outgoing);
            place.resize(order.size());
            for (std::uint32_t i = 0; i < order.size(); ++i)
                place[order[i]] = i;
        }
        const auto place_of = [&](std::uint32_t node) { return place.empty() ? node : place[node]; };

        for (const EdgeRecord& edge : edges)
            if (edge.kind == EdgeKind::full) ++first_[place_of(edge.to) + 1];
        for (std::size_t n = 1; n < first_.size(); ++n)
            first_[n] += first_[n - 1];
        incoming_.resize(first_.back());
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        for (std::uint32_t i = 0; i < edges.size(); ++i)
            if (edges[i].kind == EdgeKind::full)
                incoming_[next[place_of(edges[i].to)]++] = {place_of(edges[i].from), i};
        for (std::uint32_t node = 0; node + 1 < first_.size(); ++node)
            sort_latest_first(edges_to(node));
    }

    static void sort_latest_first(std::span<Incoming> edges) {
        if (edges.size() < 2) return;
        if (std::ranges::is_sorted(edges, {}, &Incoming::from)) // as usually written
            std::ranges::reverse(edges);
        else
            std::ranges::sort(edges, std::ranges::greater(), &Incoming::from);
    }

    [[nodiscard]] std::span<Incoming> edges_to(std::uint32_t node) {
        return {incoming_.data() + first_[node], first_[node + 1] - first_[node]};
    }

    void find_candidates(const std::vector<EdgeRecord>& edges_as_written, const std::vector<bool>& keeps_all) {
        const auto nodes = static_cast<std::uint32_t>(first_.size() - 1);
        std::vector<std::uint32_t> first_after(nodes);
        for (std::uint32_t node = nodes; node-- > 0;)
            for (const Incoming& edge : edges_to(node))
                first_after[edge.from] = node;
        std::vector<std::uint32_t> last_target(nodes);
        for (std::uint32_t node = 0; node < nodes; ++node) {
            const std::span<Incoming> edges = edges_to(node);
            if (edges.size() > 1 && !keeps_all.empty() && keeps_all[edges_as_written[edges[0].edge].to]) continue;
            for (std::size_t i = 1; i < edges.size(); ++i) {
                if (first_after[edges[i].from] > edges.front().from) continue;
                states_[edges[i].edge] = EdgeState::candidate;
                last_target[edges[i].from] = node;
            }
        }
        source_of_.assign(nodes, none);
        for (std::uint32_t node = 0; node < nodes; ++node) {
            if (last_target[node] == 0) continue;
            source_of_[node] = static_cast<std::uint32_t>(sources_.size());
            sources_.push_back({node, last_target[node]});
        }
    }

    void sweep(std::size_t begin, std::size_t end) {
        const std::span sources = std::span(sources_).subspan(begin, end - begin);
        const std::uint32_t first = sources.front().node;
        const std::uint32_t last = std::ranges::max(sources, {}, &Source::last).last;
        rows_.resize(std::max<std::size_t>(rows_.size(), last - first + 1));
        has_bits_.assign(last - first + 1, false);
        for (std::uint32_t node = first + 1; node <= last; ++node) {
            Row row{};
            bool has_bits = false;
            for (const Incoming edge : edges_to(node)) {
                if (edge.from < first) break;
                EdgeState& state = states_[edge.edge];
                if (state == EdgeState::implied) continue;
                const std::size_t number = source_of_[edge.from] - begin;
                if (number < sources.size()) {
                    const std::uint64_t bit = std::uint64_t{1} << number % 64;
                    if (state == EdgeState::candidate && (row[number / 64] & bit) != 0) {
                        state = EdgeState::implied;
                        any_ = true;
                        continue;
                    }
                    row[number / 64] |= bit;
                    has_bits = true;
                }
                if (!has_bits_[edge.from - first]) continue;
                const Row& before = rows_[edge.from - first];
                for (std::size_t i = 0; i < row.size(); ++i)
                    row[i] |= before[i];
                has_bits = true;
            }
            if (!has_bits) continue;
            rows_[node - first] = row;
            has_bits_[node - first] = true;
        }
    }

    std::vector<std::uint32_t> first_; ///< by place: the start of the node's edges in `incoming_`
    std::vector<Incoming> incoming_;
    std::vector<EdgeState> states_;        ///< by edge
    std::vector<std::uint32_t> source_of_; ///< by place: its index in `sources_`
    std::vector<Source> sources_;          ///< in order
    bool any_ = false;
    std::vector<Row> rows_; ///< of one sweep
    std::vector<char> has_bits_;
};

} // namespace

std::vector<bool> find_implied(std::size_t nodes, const std::vector<EdgeRecord>& edges,
                               const std::vector<bool>& keeps_all) {
    return Reduction(nodes, edges, keeps_all).run();
}

std::vector<EdgeRecord> reduced(std::size_t nodes, std::vector<EdgeRecord> edges, const std::vector<bool>& keeps_all) {
    const std::vector<bool> implied = find_implied(nodes, edges, keeps_all);
    if (implied.empty()) return edges;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (!implied[i]) edges[kept++] = edges[i];
    edges.resize(kept);
    return edges;
}

} // namespace cudag::detail
