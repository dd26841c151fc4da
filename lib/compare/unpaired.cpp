// Reasons why the nodes of two graphs cannot be paired.
#include "unpaired.hpp"

#include "cuda/kernel_name.hpp"
#include "graph/graph_identity.hpp"
#include "graph/names.hpp"
#include "lists/none.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace cudag::detail {

namespace {

class Unpaired {
  public:
    Unpaired(const MatchTree& before, const MatchTree& after)
        : before_(before), after_(after), is_reported_before_(before.size()), is_reported_after_(after.size()) {}

    /// Reports nodes of one label that differ in kind or kernel.
    void other_work() {
        const auto pairs = only_ones([](const MatchNode& node) { return std::pair(node.label, std::uint64_t{}); });
        for (const auto& [label, pair] : pairs) {
            if (label.first == 0 || !is_single(pair)) continue;
            const NodeKind old_kind = before_.place(pair.before).record().kind;
            const NodeKind new_kind = after_.place(pair.after).record().kind;
            const std::uint64_t old_key = before_.graph().nodes[pair.before].key;
            const std::uint64_t new_key = after_.graph().nodes[pair.after].key;
            if (old_kind != new_kind)
                tell(pair, DifferenceKind::node_kind, "kind", std::string(to_string(old_kind)),
                     std::string(to_string(new_kind)));
            else if (old_key != new_key)
                tell(pair, DifferenceKind::function, "kernel", kernel_of(old_key), kernel_of(new_key));
        }
    }

    /// Reports groups of nodes, equal in kind, kernel and label, with more members in one graph.
    void numbers(const std::vector<Matching::Group>& groups) {
        for (const Matching::Group& group : groups) {
            const auto left = [](const std::vector<std::uint32_t>& nodes, const std::vector<bool>& is_reported) {
                std::vector<std::uint32_t> rest;
                std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(rest),
                             [&](std::uint32_t node) { return !is_reported[node]; });
                return rest;
            };
            tell_numbers({left(group.before, is_reported_before_), left(group.after, is_reported_after_)},
                         DifferenceKind::node, "nodes like it");
        }
    }

    /// Reports edges between nodes with exactly one counterpart each.
    void edges() {
        std::vector<std::uint32_t> partner(before_.size(), none);
        std::vector<bool> has_partner(after_.size());
        const auto pairs = only_ones([](const MatchNode& node) { return std::pair(node.label, node.key); });
        for (const auto& [node, pair] : pairs) {
            if (!is_single(pair)) continue;
            partner[pair.before] = pair.after;
            has_partner[pair.after] = true;
        }
        std::map<MatchEdge, MatchEdge> mapped; // by the counterpart in the second graph
        for (const MatchEdge& edge : before_.graph().edges)
            if (partner[edge.from] != none && partner[edge.to] != none)
                mapped.insert({{partner[edge.from], partner[edge.to], edge.kind}, edge});
        std::vector<MatchEdge> added;
        for (const MatchEdge& edge : after_.graph().edges)
            if (has_partner[edge.from] && has_partner[edge.to] && mapped.erase(edge) == 0) added.push_back(edge);
        for (const auto& [there, edge] : mapped)
            tell({edge.to, there.to}, DifferenceKind::edge, edge_name(before_, edge), "there", "missing");
        for (const MatchEdge& edge : added) {
            const auto to = std::find(partner.begin(), partner.end(), edge.to) - partner.begin();
            tell({static_cast<std::uint32_t>(to), edge.to}, DifferenceKind::edge, edge_name(after_, edge), "missing",
                 "there");
        }
    }

    /// Reports groups of nodes, alike in their neighbours, with more members in one graph.
    void places(const std::vector<Matching::Group>& groups) {
        for (const Matching::Group& group : groups)
            tell_numbers(group, DifferenceKind::edge, "nodes like it at such a place");
    }

    /// Reports labels with more nodes in one graph, if they alone distinguish the nodes.
    void labels() {
        const auto pairs = only_ones([](const MatchNode& node) { return std::pair(node.label, std::uint64_t{}); });
        for (const auto& [label, pair] : pairs)
            if (label.first != 0 && pair.count_before != pair.count_after)
                tell(pair, DifferenceKind::node, "nodes of this label", fmt::to_string(pair.count_before),
                     fmt::to_string(pair.count_after));
    }

    [[nodiscard]] std::vector<Difference>& found() noexcept { return found_; }

  private:
    /// The first nodes with a property in both graphs, and the number of nodes with it.
    struct Pair {
        std::uint32_t before = none;
        std::uint32_t after = none;
        std::size_t count_before = 0;
        std::size_t count_after = 0;
    };
    static bool is_single(const Pair& pair) noexcept { return pair.count_before == 1 && pair.count_after == 1; }

    template <class Key>
    [[nodiscard]] std::map<std::pair<std::uint32_t, std::uint64_t>, Pair> only_ones(const Key& key) const {
        std::map<std::pair<std::uint32_t, std::uint64_t>, Pair> pairs;
        for (std::uint32_t i = 0; i < before_.size(); ++i) {
            Pair& pair = pairs[key(before_.graph().nodes[i])];
            if (pair.count_before++ == 0) pair.before = i;
        }
        for (std::uint32_t i = 0; i < after_.size(); ++i) {
            Pair& pair = pairs[key(after_.graph().nodes[i])];
            if (pair.count_after++ == 0) pair.after = i;
        }
        return pairs;
    }

    /// Names the kernel of a key. A node's record may be outdated by a whole update.
    static std::string kernel_of(std::uint64_t key) { return kernel_name(reinterpret_cast<CUfunction>(key)); }
    static std::string edge_name(const MatchTree& tree, const MatchEdge& edge) {
        const std::string from = tree.place(edge.from).describe();
        if (edge.kind >= MatchTree::inside) return "place inside " + from;
        const auto kind = static_cast<EdgeKind>(edge.kind);
        return fmt::format("{}edge from {}", kind == EdgeKind::full ? "" : fmt::format("{} ", to_string(kind)), from);
    }
    static Node handle(const MatchTree& tree, std::uint32_t node) {
        return node == none ? Node() : identity_of(*tree.place(node).graph).handle(tree.place(node).index);
    }

    void tell(const Pair& pair, DifferenceKind kind, std::string field, std::string before, std::string after) {
        std::string name = (pair.before != none ? before_.place(pair.before) : after_.place(pair.after)).describe();
        if (pair.before != none) is_reported_before_[pair.before] = true;
        if (pair.after != none) is_reported_after_[pair.after] = true;
        found_.push_back({kind, handle(before_, pair.before), handle(after_, pair.after), std::move(name),
                          std::move(field), std::move(before), std::move(after), true});
    }
    void tell_numbers(const Matching::Group& group, DifferenceKind kind, const char* field) {
        const std::size_t before = group.before.size();
        const std::size_t after = group.after.size();
        if (before == after) return;
        tell({before == 0 ? none : group.before.front(), after == 0 ? none : group.after.front()}, kind, field,
             fmt::to_string(before), fmt::to_string(after));
    }

    const MatchTree& before_;
    const MatchTree& after_;
    std::vector<bool> is_reported_before_;
    std::vector<bool> is_reported_after_;
    std::vector<Difference> found_;
};

} // namespace

std::vector<Difference> describe_unpaired(const MatchTree& before, const MatchTree& after, const Matching& matching) {
    Unpaired unpaired(before, after);
    unpaired.other_work();
    if (matching.result == Matching::Result::other_nodes) unpaired.numbers(matching.unmatched);
    if (matching.result == Matching::Result::other_edges) {
        unpaired.edges();
        if (unpaired.found().empty()) unpaired.places(matching.unmatched);
        if (unpaired.found().empty()) unpaired.labels();
    }
    return std::move(unpaired.found());
}

} // namespace cudag::detail
