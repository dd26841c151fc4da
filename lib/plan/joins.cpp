// Joins, where many nodes precede many others: by edges, or through a node between them.
#include "joins.hpp"

#include "edges/edge_groups.hpp"
#include "edges/reduction.hpp"
#include "edges/topological_order.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

/// The most edges from each to each that are faster than an empty node, if no kernel may be added.
constexpr std::size_t most_edges_for_node = 1024;

class Joiner {
  public:
    Joiner(std::size_t nodes, std::vector<EdgeRecord>&& edges, const std::vector<bool>& keeps_all,
           const JoinRules& rules)
        : nodes_(nodes), keeps_all_(keeps_all), rules_(rules), seen_by_(nodes) {
        planned_.edges = std::move(edges);
    }

    /// Replaces the joins of the graph.
    void replace_joins(const std::vector<bool>& is_join) {
        const std::vector<EdgeRecord> edges = std::exchange(planned_.edges, {});
        const EdgeGroups incoming(nodes_, edges, &EdgeRecord::to);
        const EdgeGroups outgoing(nodes_, edges, &EdgeRecord::from);
        const std::vector<bool> meets_early = find_early_targets(edges);
        std::vector<std::vector<std::uint32_t>> before(nodes_); // by join that becomes edges
        std::vector<std::uint32_t> kernel_of(nodes_);
        std::vector<std::uint32_t> from;
        planned_.edges.reserve(edges.size());
        for (const std::uint32_t node : topological_order(edges, outgoing)) {
            from.clear();
            for (const std::uint32_t item : group(incoming, node)) {
                const EdgeRecord& edge = edges[item];
                if (edge.kind != EdgeKind::full)
                    planned_.edges.push_back(edge);
                else if (!is_join[edge.from])
                    add_once(from, edge.from, node);
                else if (kernel_of[edge.from] != 0)
                    add_once(from, kernel_of[edge.from], node);
                else
                    for (const std::uint32_t one : before[edge.from])
                        add_once(from, one, node);
            }
            if (!is_join[node]) {
                add_edges(from, node);
                continue;
            }
            const std::span to = group(outgoing, node);
            const auto any_to = [&](const auto& is) {
                return std::ranges::any_of(to, [&](std::uint32_t item) { return is(edges[item].to); });
            };
            const auto [form, reason] =
                keeps_all(node) || any_to([&](std::uint32_t one) { return keeps_all(one); })
                    ? Choice{JoinForm::node, JoinReason::kept_edges}
                    : choose(from.size(), to.size(), any_to([&](std::uint32_t one) { return meets_early[one]; }));
            planned_.joins.push_back({node, size_of(from), size_of(to), form, reason});
            switch (form) {
            case JoinForm::edges:
                before[node] = from;
                break;
            case JoinForm::kernel:
                add_edges(from, kernel_of[node] = new_kernel());
                break;
            case JoinForm::node:
                before[node] = {node};
                add_edges(from, node);
                break;
            }
        }
        const bool all_stay =
            std::ranges::all_of(planned_.joins, [](const JoinRecord& join) { return join.form == JoinForm::node; });
        if (all_stay) return;
        std::vector<bool> kept = keeps_all_;
        if (!kept.empty()) kept.resize(nodes_ + planned_.kernels);
        planned_.edges = reduced(nodes_ + planned_.kernels, std::move(planned_.edges), kept);
    }

    /// Puts a kernel between nodes that all precede the same others.
    void find_blocks() {
        const std::vector<std::uint32_t> targets = rules_.kernels ? find_block_targets() : std::vector<std::uint32_t>();
        if (targets.empty()) return;
        const std::size_t nodes = nodes_ + planned_.kernels;
        const std::vector<EdgeRecord>& edges = planned_.edges;
        const EdgeGroups incoming(nodes, edges, &EdgeRecord::to);
        std::vector<std::vector<std::uint32_t>> before(nodes); // by target, in order
        std::unordered_map<std::size_t, std::vector<std::uint32_t>> by_hash;
        std::vector<std::size_t> hashes; // in order of their first nodes
        for (const std::uint32_t node : targets) {
            std::vector<std::uint32_t>& from = before[node];
            for (const std::uint32_t item : group(incoming, node))
                if (edges[item].kind == EdgeKind::full) from.push_back(edges[item].from);
            std::ranges::sort(from);
            std::size_t hash = from.size();
            for (const std::uint32_t one : from)
                hash = (hash ^ one) * 0x9E3779B97F4A7C15U;
            std::vector<std::uint32_t>& same = by_hash[hash];
            if (same.empty()) hashes.push_back(hash);
            same.push_back(node);
        }
        std::vector<std::uint32_t> kernel_before(nodes);
        std::vector<EdgeRecord> added;
        for (const std::size_t hash : hashes) {
            std::vector<std::uint32_t>& alike = by_hash[hash];
            while (!alike.empty()) {
                const std::vector<std::uint32_t>& from = before[alike.front()];
                const auto others =
                    std::stable_partition(alike.begin(), alike.end(), // std::ranges: too much for clang++ 14
                                          [&](std::uint32_t node) { return before[node] == from; });
                const std::vector<std::uint32_t> to(alike.begin(), others);
                alike.erase(alike.begin(), others);
                if (from.size() < 2 || to.size() < 2 ||
                    JoinCosts::edge_ratio(from.size(), to.size()) <= rules_.costs.edges_up_to)
                    continue;
                const std::uint32_t kernel = new_kernel();
                planned_.joins.push_back(
                    {JoinRecord::no_node, size_of(from), size_of(to), JoinForm::kernel, JoinReason::many_edges});
                for (const std::uint32_t one : from)
                    added.push_back({one, kernel});
                for (const std::uint32_t one : to) {
                    kernel_before[one] = kernel;
                    added.push_back({kernel, one});
                }
            }
        }
        if (added.empty()) return;
        std::erase_if(planned_.edges, [&](const EdgeRecord& edge) {
            return edge.kind == EdgeKind::full && kernel_before[edge.to] != 0;
        });
        planned_.edges.insert(planned_.edges.end(), added.begin(), added.end());
    }

    PlannedEdges take() { return std::move(planned_); }

  private:
    [[nodiscard]] bool keeps_all(std::uint32_t node) const {
        return !keeps_all_.empty() && node < nodes_ && keeps_all_[node];
    }
    [[nodiscard]] static std::span<const std::uint32_t> group(const EdgeGroups& groups, std::uint32_t node) {
        return std::span(groups.items).subspan(groups.first[node], groups.first[node + 1] - groups.first[node]);
    }
    template <class List>
    [[nodiscard]] static std::uint32_t size_of(const List& list) {
        return static_cast<std::uint32_t>(list.size());
    }

    /// The possible targets of blocks, in order. A block is as wide as its edge ratio at least, on both sides.
    [[nodiscard]] std::vector<std::uint32_t> find_block_targets() const {
        const std::size_t nodes = nodes_ + planned_.kernels;
        std::vector<std::uint32_t> incoming(nodes), outgoing(nodes);
        for (const EdgeRecord& edge : planned_.edges)
            ++incoming[edge.to], ++outgoing[edge.from];
        const auto is_wide = [&](std::uint32_t count) { return count > 1 && count > rules_.costs.edges_up_to; };
        std::vector<bool> follows_wide(nodes);
        for (const EdgeRecord& edge : planned_.edges)
            if (is_wide(outgoing[edge.from])) follows_wide[edge.to] = true;
        std::vector<std::uint32_t> found;
        for (std::uint32_t node = 0; node < nodes; ++node)
            if (is_wide(incoming[node]) && follows_wide[node] && !keeps_all(node)) found.push_back(node);
        return found;
    }

    /// The targets of non-full edges: CUDA allows no second edge from the same source.
    [[nodiscard]] std::vector<bool> find_early_targets(const std::vector<EdgeRecord>& edges) const {
        std::vector<bool> found(nodes_);
        for (const EdgeRecord& edge : edges)
            if (edge.kind != EdgeKind::full) found[edge.to] = true;
        return found;
    }

    struct Choice {
        JoinForm form;
        JoinReason reason;
    };

    [[nodiscard]] Choice choose(std::size_t before, std::size_t after, bool must_stay) const {
        if (before == 0 || after == 0) return {JoinForm::edges, JoinReason::joins_nothing};
        if (!must_stay && (before == 1 || after == 1)) return {JoinForm::edges, JoinReason::no_more_edges};
        const double ratio = JoinCosts::edge_ratio(before, after);
        if (!rules_.repays)
            return !must_stay && ratio <= rules_.costs.edges_at_once ? Choice{JoinForm::edges, JoinReason::few_edges}
                                                                     : Choice{JoinForm::node, JoinReason::few_launches};
        if (!rules_.kernels)
            return {must_stay || before * after > most_edges_for_node ? JoinForm::node : JoinForm::edges,
                    JoinReason::no_kernel};
        if (must_stay) return {JoinForm::kernel, JoinReason::early_edges};
        if (ratio > rules_.costs.joins_up_to) return {JoinForm::kernel, JoinReason::many_edges};
        return {JoinForm::edges, JoinReason::few_edges};
    }

    std::uint32_t new_kernel() { return static_cast<std::uint32_t>(nodes_ + planned_.kernels++); }

    void add_once(std::vector<std::uint32_t>& list, std::uint32_t from, std::uint32_t to) {
        if (from >= seen_by_.size()) seen_by_.resize(from + 1);
        if (seen_by_[from] == to + 1) return;
        seen_by_[from] = to + 1;
        list.push_back(from);
    }
    void add_edges(const std::vector<std::uint32_t>& from, std::uint32_t to) {
        for (const std::uint32_t one : from)
            planned_.edges.push_back({one, to});
    }

    std::size_t nodes_;
    const std::vector<bool>& keeps_all_;
    const JoinRules& rules_;
    std::vector<std::uint32_t> seen_by_; ///< by node: its last found successor, plus one
    PlannedEdges planned_;
};

} // namespace

PlannedEdges plan_joins(std::size_t nodes, std::vector<EdgeRecord>&& edges, const std::vector<bool>& is_join,
                        const std::vector<bool>& keeps_all, const JoinRules& rules) {
    Joiner joiner(nodes, std::move(edges), keeps_all, rules);
    if (!is_join.empty()) joiner.replace_joins(is_join);
    joiner.find_blocks();
    return joiner.take();
}

} // namespace cudag::detail
