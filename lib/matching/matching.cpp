// Correspondence of nodes between two graphs that differ only in node numbers.
#include "matching.hpp"

#include "refinement.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

using Indices = std::vector<std::uint32_t>;

bool may_share_label(const MatchNode& a, const MatchNode& b) noexcept {
    return a.label == 0 || b.label == 0 || a.label == b.label;
}

/// Backtracking search: tries pairs of nodes that look alike, and undoes failed ones.
class Search {
  public:
    Search(const MatchGraph& before, const MatchGraph& after, Refinement& refinement)
        : before_(before), after_(after), refinement_(refinement), cells_(refinement.cells()) {}

    /// Pairs all nodes. Returns false if there is no pairing or the steps do not suffice.
    [[nodiscard]] bool run() {
        for (bool is_possible = true; is_possible;) {
            const std::vector<Suggestion> suggestions = suggest();
            if (suggestions.empty() && have_equal_labels()) return true;
            if (suggestions.empty()) {
                is_possible = try_others();
                continue;
            }
            for (const Suggestion& pair : suggestions) {
                if (!are_open(pair.first, pair.second)) continue;
                choices_.push_back({pair.first, cells_.count()});
                if (can_be(pair.first, pair.second)) continue;
                is_possible = try_others();
                break;
            }
        }
        return false;
    }

    /// The partner of each node of the first graph, once all are paired.
    [[nodiscard]] Indices partners() const {
        Indices partner(first_count());
        for (std::uint32_t cell = 0; cell < cells_.count(); ++cell) {
            const auto both = cells_.elements(cell);
            const bool in_order = cells_.is_first(both[0]);
            partner[in_order ? both[0] : both[1]] = (in_order ? both[1] : both[0]) - first_count();
        }
        return partner;
    }

  private:
    /// Two nodes that may be partners; lower ones are tried first.
    struct Suggestion {
        unsigned rank;
        std::uint32_t first;
        std::uint32_t second;
        friend auto operator<=>(const Suggestion&, const Suggestion&) = default;
    };
    /// The chosen partner of an ambiguous node, and the alternatives.
    struct Choice {
        std::uint32_t first;
        std::uint32_t cells; ///< number of cells before the choice
        Indices others = {};
        bool knows_others = false;
    };

    [[nodiscard]] std::uint32_t first_count() const noexcept {
        return static_cast<std::uint32_t>(before_.nodes.size());
    }
    [[nodiscard]] const MatchNode& node(std::uint32_t element) const noexcept {
        return cells_.is_first(element) ? before_.nodes[element] : after_.nodes[element - first_count()];
    }
    [[nodiscard]] bool are_open(std::uint32_t first, std::uint32_t second) const noexcept {
        return cells_.of(first) == cells_.of(second) && cells_[cells_.of(first)].size() > 2;
    }
    [[nodiscard]] bool can_be(std::uint32_t first, std::uint32_t second) {
        return may_share_label(node(first), node(second)) && refinement_.pair(first, second);
    }
    [[nodiscard]] bool have_equal_labels() const {
        const Indices partner = partners();
        for (std::uint32_t i = 0; i < partner.size(); ++i)
            if (!may_share_label(before_.nodes[i], after_.nodes[partner[i]])) return false;
        return true;
    }

    /// Repeats the last choice, or an earlier one, with another partner. Returns false if there is no alternative.
    [[nodiscard]] bool try_others() {
        while (!choices_.empty() && !refinement_.is_exhausted()) {
            Choice& last = choices_.back();
            refinement_.undo(last.cells);
            if (!last.knows_others) list_others(last);
            while (!last.others.empty()) {
                const std::uint32_t second = last.others.back();
                last.others.pop_back();
                if (can_be(last.first, second)) return true;
                refinement_.undo(last.cells);
                if (refinement_.is_exhausted()) return false;
            }
            choices_.pop_back();
        }
        return false;
    }

    /// Lists the alternatives: all nodes of its cell but the suggested one. The last element is tried first.
    void list_others(Choice& choice) {
        choice.knows_others = true;
        for (const std::uint32_t element : cells_.elements(cells_.of(choice.first)))
            if (!cells_.is_first(element)) choice.others.push_back(element);
        refinement_.count_steps(choice.others.size());
        std::sort(choice.others.begin(), choice.others.end(), std::greater());
    }

    /// Suggests pairs for all ambiguous nodes: first those with a unique property, then the others, each in node order.
    [[nodiscard]] std::vector<Suggestion> suggest() {
        std::vector<Suggestion> suggestions;
        for (std::uint32_t cell = 0; cell < cells_.count(); ++cell) {
            if (cells_[cell].size() == 2) continue;
            Indices firsts, seconds;
            for (const std::uint32_t element : cells_.elements(cell))
                (cells_.is_first(element) ? firsts : seconds).push_back(element);
            using Key = std::pair<std::uint32_t, std::uint64_t>;
            suggest_equal(firsts, seconds, 0, suggestions,
                          [](const MatchNode& n) { return Key(n.label, n.preference); });
            suggest_equal(firsts, seconds, 1, suggestions, [](const MatchNode& n) { return Key(n.label, n.likeness); });
            suggest_equal(firsts, seconds, 2, suggestions, [](const MatchNode& n) { return Key(n.label, 0); });
            suggest_equal(firsts, seconds, 3, suggestions, [](const MatchNode&) { return Key(); });
        }
        refinement_.count_steps(cells_.count() + suggestions.size());
        std::sort(suggestions.begin(), suggestions.end());
        return suggestions;
    }

    /// Pairs nodes with equal `key` and removes them from the lists.
    template <class Key>
    void suggest_equal(Indices& firsts, Indices& seconds, unsigned rank, std::vector<Suggestion>& suggestions,
                       const Key& key) const {
        constexpr unsigned ranks = 4;
        const auto of = [&](std::uint32_t element) { return std::tuple(key(node(element)), element); };
        const auto precedes = [&](std::uint32_t a, std::uint32_t b) { return of(a) < of(b); };
        std::sort(firsts.begin(), firsts.end(), precedes);
        std::sort(seconds.begin(), seconds.end(), precedes);
        const auto end_of = [&](const Indices& list, std::size_t begin) {
            std::size_t end = begin;
            while (end < list.size() && key(node(list[end])) == key(node(list[begin])))
                ++end;
            return end;
        };
        Indices first_rest, second_rest;
        std::size_t a = 0, b = 0;
        while (a < firsts.size() && b < seconds.size()) {
            const auto first_key = key(node(firsts[a]));
            const auto second_key = key(node(seconds[b]));
            if (first_key < second_key) {
                first_rest.push_back(firsts[a++]);
            } else if (second_key < first_key) {
                second_rest.push_back(seconds[b++]);
            } else {
                const std::size_t a_end = end_of(firsts, a), b_end = end_of(seconds, b);
                const bool is_only_one = a_end - a == 1 && b_end - b == 1;
                for (; a < a_end && b < b_end; ++a, ++b)
                    suggestions.push_back({is_only_one ? rank : ranks + rank, firsts[a], seconds[b]});
                for (; a < a_end; ++a)
                    first_rest.push_back(firsts[a]);
                for (; b < b_end; ++b)
                    second_rest.push_back(seconds[b]);
            }
        }
        first_rest.insert(first_rest.end(), firsts.begin() + static_cast<std::ptrdiff_t>(a), firsts.end());
        second_rest.insert(second_rest.end(), seconds.begin() + static_cast<std::ptrdiff_t>(b), seconds.end());
        firsts.swap(first_rest);
        seconds.swap(second_rest);
    }

    const MatchGraph& before_;
    const MatchGraph& after_;
    Refinement& refinement_;
    const Cells& cells_;
    std::vector<Choice> choices_;
};

/// The labels on equally many nodes of both graphs.
std::vector<bool> find_common_labels(const MatchGraph& before, const MatchGraph& after) {
    std::vector<std::int64_t> surplus(1);
    std::vector<bool> is_common(1);
    const auto count = [&](const MatchGraph& graph, int one) {
        for (const MatchNode& node : graph.nodes) {
            if (node.label >= surplus.size()) surplus.resize(node.label + std::size_t{1});
            surplus[node.label] += one;
        }
    };
    count(before, 1);
    count(after, -1);
    for (std::size_t label = 1; label < surplus.size(); ++label)
        is_common.push_back(surplus[label] == 0);
    return is_common;
}

} // namespace

Matcher::Matcher(const MatchGraph& before, const MatchGraph& after) : before_(before), after_(after) {
    const std::vector<bool> is_common = find_common_labels(before, after);
    struct Colour {
        std::uint64_t key;
        std::uint64_t more;
        std::uint32_t label;
        bool operator==(const Colour&) const = default;
    };
    struct ColourHash {
        std::size_t operator()(const Colour& colour) const noexcept {
            return static_cast<std::size_t>((colour.key * 31 + colour.more) * 31 + colour.label);
        }
    };
    std::unordered_map<Colour, std::uint32_t, ColourHash> known; // numbers colours in order of appearance, independent
                                                                 // of the keys
    colours_.reserve(before.nodes.size() + after.nodes.size());
    for (const MatchGraph* graph : {&before, &after})
        for (const MatchNode& node : graph->nodes) {
            const auto [colour, is_new] =
                known.try_emplace({node.key, node.more, is_common[node.label] ? node.label : 0}, colour_count_);
            if (is_new) ++colour_count_;
            colours_.push_back(colour->second);
        }
}

bool Matcher::is_in_order() const {
    const std::size_t count = before_.nodes.size();
    if (after_.nodes.size() != count) return false;
    for (std::size_t i = 0; i < count; ++i)
        if (colours_[i] != colours_[count + i] || !may_share_label(before_.nodes[i], after_.nodes[i])) return false;
    if (before_.edges == after_.edges) return true;
    Indices partner(count);
    std::iota(partner.begin(), partner.end(), 0U);
    return is_right(partner);
}

Matching Matcher::find(std::uint64_t more) const {
    if (std::vector<Matching::Group> unequal = unequal_colours(); !unequal.empty())
        return {.result = Matching::Result::other_nodes, .unmatched = std::move(unequal)};
    const std::size_t looks = before_.nodes.size() + before_.edges.size() + after_.nodes.size() + after_.edges.size();
    Refinement refinement(before_, after_, colours_, colour_count_, steps_of_an_edge * looks + more);
    Matching failure{.result = Matching::Result::other_edges};
    if (!refinement.refine()) {
        if (refinement.is_exhausted()) return {.result = Matching::Result::gave_up};
        Matching::Group& group = failure.unmatched.emplace_back();
        const auto count = static_cast<std::uint32_t>(before_.nodes.size());
        for (const std::uint32_t element : refinement.cells().elements(refinement.unbalanced()))
            if (element < count)
                group.before.push_back(element);
            else
                group.after.push_back(element - count);
        std::sort(group.before.begin(), group.before.end());
        std::sort(group.after.begin(), group.after.end());
        return failure;
    }
    Search search(before_, after_, refinement);
    if (!search.run()) {
        if (refinement.is_exhausted()) failure.result = Matching::Result::gave_up;
        return failure;
    }
    Matching matching{.result = Matching::Result::found, .partner = search.partners()};
    return is_right(matching.partner) ? matching : failure;
}

bool Matcher::is_right(const std::vector<std::uint32_t>& partner) const {
    std::vector<MatchEdge> mapped;
    mapped.reserve(before_.edges.size());
    for (const MatchEdge& edge : before_.edges)
        mapped.push_back({partner[edge.from], partner[edge.to], edge.kind});
    std::vector<MatchEdge> edges = after_.edges;
    std::sort(mapped.begin(), mapped.end());
    std::sort(edges.begin(), edges.end());
    return mapped == edges;
}

std::vector<Matching::Group> Matcher::unequal_colours() const {
    std::vector<Matching::Group> groups(colour_count_);
    const auto count = static_cast<std::uint32_t>(before_.nodes.size());
    for (std::uint32_t i = 0; i < colours_.size(); ++i)
        if (i < count)
            groups[colours_[i]].before.push_back(i);
        else
            groups[colours_[i]].after.push_back(i - count);
    std::erase_if(groups, [](const Matching::Group& group) { return group.before.size() == group.after.size(); });
    return groups;
}

} // namespace cudag::detail
