// Folding: reduction of a graph to rows and parallel parts, which are compared by number.
#include "folding.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace cudag::detail {

namespace {

constexpr std::size_t most_levels = 64;
constexpr std::size_t longest_group = 64; ///< of neighbours in a row that repeat together

/// The other end of an edge.
struct Neighbour {
    std::uint32_t block;
    EdgeKind kind;
    friend auto operator<=>(const Neighbour&, const Neighbour&) = default;
};
using Neighbours = std::vector<Neighbour>;

class Folder {
  public:
    Folder(const std::vector<std::uint32_t>& looks, const std::vector<EdgeRecord>& edges)
        : looks_(looks), before_(looks.size()), after_(looks.size()) {
        for (std::uint32_t node = 0; node < looks.size(); ++node) {
            graph_.blocks.push_back({.node = node});
            graph_.tops.push_back(node);
        }
        if (!looks.empty()) next_look_ = *std::ranges::max_element(looks) + 1;
        for (const EdgeRecord& edge : edges) {
            after_[edge.from].push_back({edge.to, edge.kind});
            before_[edge.to].push_back({edge.from, edge.kind});
        }
        for (std::uint32_t node = 0; node < looks.size(); ++node) {
            std::ranges::sort(after_[node]);
            std::ranges::sort(before_[node]);
        }
    }

    FoldedGraph fold() && {
        for (std::size_t level = 0; level < most_levels; ++level) {
            const std::size_t had = graph_.tops.size();
            join_rows();
            join_beside();
            if (graph_.tops.size() == had) break;
        }
        for (const std::uint32_t top : graph_.tops)
            for (const Neighbour& next : after_[top])
                graph_.edges.push_back({top, next.block, next.kind});
        return std::move(graph_);
    }

  private:
    /// The only successor of a block with it as the only predecessor; the block itself if there is none.
    [[nodiscard]] std::uint32_t next_in_row(std::uint32_t block) const {
        if (after_[block].size() != 1) return block;
        const std::uint32_t next = after_[block].front().block;
        return before_[next].size() == 1 ? next : block;
    }
    [[nodiscard]] bool begins_row(std::uint32_t block) const {
        return before_[block].size() != 1 || next_in_row(before_[block].front().block) != block;
    }

    void join_rows() {
        std::vector<std::uint32_t> tops;
        for (const std::uint32_t first : std::exchange(graph_.tops, {})) {
            if (!begins_row(first)) continue;
            std::vector<RepeatedBlock> parts;
            std::uint32_t last = first;
            append(parts, first, Block::Form::row, EdgeKind::full);
            for (std::uint32_t next = next_in_row(last); next != last; next = next_in_row(last)) {
                append(parts, next, Block::Form::row, after_[last].front().kind);
                last = next;
            }
            tops.push_back(last == first ? first : replace(first, last, add_row(std::move(parts))));
        }
        graph_.tops = std::move(tops);
    }

    void join_beside() {
        std::map<std::pair<Neighbours, Neighbours>, std::vector<std::uint32_t>> groups;
        for (const std::uint32_t top : graph_.tops)
            groups[{before_[top], after_[top]}].push_back(top);
        std::vector<std::uint32_t> stand_for(graph_.blocks.size());
        for (const std::uint32_t top : graph_.tops)
            stand_for[top] = top;
        bool has_joined = false;
        for (const auto& [neighbours, members] : groups) {
            if (members.size() == 1) continue;
            has_joined = true;
            std::vector<RepeatedBlock> parts;
            for (const std::uint32_t member : members)
                append(parts, member, Block::Form::beside, EdgeKind::full);
            const std::uint32_t all = add_beside(std::move(parts));
            before_[all] = before_[members.front()];
            after_[all] = after_[members.front()];
            for (const std::uint32_t member : members)
                stand_for[member] = all;
        }
        if (!has_joined) return;
        std::vector<std::uint32_t> tops;
        std::vector<bool> is_listed(graph_.blocks.size());
        for (const std::uint32_t top : graph_.tops)
            if (const std::uint32_t now = stand_for[top]; !is_listed[now]) {
                is_listed[now] = true;
                tops.push_back(now);
            }
        for (const std::uint32_t top : tops)
            for (Neighbours* const list : {&before_[top], &after_[top]}) {
                for (Neighbour& neighbour : *list)
                    neighbour.block = stand_for[neighbour.block];
                std::ranges::sort(*list);
                list->erase(std::unique(list->begin(), list->end()), list->end());
            }
        graph_.tops = std::move(tops);
    }

    /// Appends a block, or the parts of a block of the same form.
    void append(std::vector<RepeatedBlock>& parts, std::uint32_t block, Block::Form form, EdgeKind kind) const {
        if (graph_.blocks[block].form != form) {
            parts.push_back({block, 1, kind});
            return;
        }
        const std::size_t at = parts.size();
        parts.insert(parts.end(), graph_.blocks[block].parts.begin(), graph_.blocks[block].parts.end());
        parts[at].kind = kind;
    }

    /// A new block in the place of a row from `first` to `last`.
    std::uint32_t replace(std::uint32_t first, std::uint32_t last, std::uint32_t row) {
        before_[row] = std::move(before_[first]);
        after_[row] = std::move(after_[last]);
        for (const Neighbour& neighbour : before_[row])
            rename(after_[neighbour.block], first, row);
        for (const Neighbour& neighbour : after_[row])
            rename(before_[neighbour.block], last, row);
        return row;
    }
    static void rename(Neighbours& list, std::uint32_t old, std::uint32_t now) {
        for (Neighbour& neighbour : list)
            if (neighbour.block == old) neighbour.block = now;
        std::ranges::sort(list);
    }

    std::uint32_t add_block(Block::Form form, std::vector<RepeatedBlock>&& parts) {
        std::vector<std::uint64_t> look{static_cast<std::uint64_t>(form)};
        for (const RepeatedBlock& part : parts)
            look.insert(look.end(), {looks_[part.block], part.times, static_cast<std::uint64_t>(part.kind),
                                     static_cast<std::uint64_t>(part.between)});
        const auto [place, is_new] = row_looks_.try_emplace(std::move(look), next_look_);
        if (is_new) ++next_look_;
        looks_.push_back(place->second);
        graph_.blocks.push_back({.form = form, .parts = std::move(parts)});
        before_.emplace_back();
        after_.emplace_back();
        return static_cast<std::uint32_t>(graph_.blocks.size() - 1);
    }
    std::uint32_t add_beside(std::vector<RepeatedBlock>&& parts) {
        std::ranges::stable_sort(parts, {}, [&](const RepeatedBlock& part) { return looks_[part.block]; });
        std::vector<RepeatedBlock> different;
        for (const RepeatedBlock& part : parts)
            if (!different.empty() && looks_[different.back().block] == looks_[part.block])
                different.back().times += part.times;
            else
                different.push_back(part);
        return add_block(Block::Form::beside, std::move(different));
    }
    std::uint32_t add_row(std::vector<RepeatedBlock>&& parts) {
        return add_block(Block::Form::row, repeated(parts, longest_group));
    }

    [[nodiscard]] bool are_equal(const RepeatedBlock& a, const RepeatedBlock& b) const {
        return looks_[a.block] == looks_[b.block] && a.times == b.times && a.between == b.between;
    }

    /// The parts of a row, with groups of at most `longest` equal neighbours as one part each. A row that grew from
    /// folded ones may have `n` times a part beside that part again.
    std::vector<RepeatedBlock> repeated(std::span<const RepeatedBlock> parts, std::size_t longest) {
        longest = std::min(longest, parts.size() / 2);
        // repeats[group - 1][i]: number of parts from i on that equal the part `group` places later
        std::vector<std::vector<std::uint32_t>> repeats(longest, std::vector<std::uint32_t>(parts.size()));
        for (std::size_t group = 1; group <= longest; ++group)
            for (std::size_t i = parts.size() - group; i-- > 0;)
                if (are_equal(parts[i], parts[i + group]))
                    repeats[group - 1][i] = 1 + (i + 1 < parts.size() ? repeats[group - 1][i + 1] : 0);
        const auto same_edges = [&](std::size_t from, std::size_t group, std::size_t times) {
            for (std::size_t i = from + 1; i < from + group * (times - 1); ++i)
                if (parts[i].kind != parts[i + group].kind) return false;
            return true;
        };
        std::vector<RepeatedBlock> result;
        for (std::size_t i = 0; i < parts.size();) {
            std::size_t best = 0, best_times = 1;
            for (std::size_t group = 1; group <= longest; ++group) {
                const std::size_t times = repeats[group - 1][i] / group + 1;
                if (times > 1 && group * times > best * best_times && same_edges(i, group, times)) {
                    best = group;
                    best_times = times;
                }
            }
            if (best == 0) {
                result.push_back(parts[i++]);
            } else {
                RepeatedBlock together = parts[i];
                if (best == 1 && together.times == 1) {
                    together.times = static_cast<std::uint32_t>(best_times);
                } else {
                    auto inner = repeated(parts.subspan(i, best), best - 1);
                    together.block = add_block(Block::Form::row, std::move(inner));
                    together.times = static_cast<std::uint32_t>(best_times);
                }
                together.between = parts[i + best].kind;
                result.push_back(together);
                i += best * best_times;
            }
        }
        return result;
    }

    FoldedGraph graph_;
    std::vector<std::uint32_t> looks_; ///< by block
    std::vector<Neighbours> before_;   ///< by block
    std::vector<Neighbours> after_;    ///< by block
    std::map<std::vector<std::uint64_t>, std::uint32_t> row_looks_;
    std::uint32_t next_look_ = 0;
};

} // namespace

FoldedGraph folded(const std::vector<std::uint32_t>& looks, const std::vector<EdgeRecord>& edges) {
    return Folder(looks, edges).fold();
}

} // namespace cudag::detail
