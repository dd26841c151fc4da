// The edges of a graph as a value: adds, merges, finds cycles and contradictions.
#include "edges.hpp"

#include "edge_groups.hpp"
#include "lists/none.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace cudag::detail {

namespace {

bool are_forward(std::span<const EdgeRecord> edges) {
    return std::all_of(edges.begin(), edges.end(), [](const EdgeRecord& edge) { return edge.from < edge.to; });
}

} // namespace

Edges::Edges(std::vector<EdgeRecord> list)
    : list_(std::move(list)), has_early_(std::any_of(list_.begin(), list_.end(), [](const EdgeRecord& edge) {
          return edge.kind != EdgeKind::full;
      })) {}

void Edges::add_settled(std::uint32_t from, std::uint32_t to) {
    const bool all = settled_ == list_.size();
    list_.push_back({from, to});
    if (all) settle();
}

void Edges::forget_nodes(std::uint32_t first) {
    detail::forget_nodes(list_, first);
    unsettle();
}

void Edges::renumber(const Renumbering& next) noexcept {
    detail::renumber(list_, next);
    unsettle();
}

void Edges::remove(std::span<const EdgeRecord> gone) noexcept {
    std::erase_if(list_, [&](const EdgeRecord& edge) { return find_ends(gone, edge) != nullptr; });
    unsettle();
}

void Edges::merge(std::size_t nodes) {
    const auto before = [](const EdgeRecord& a, const EdgeRecord& b) {
        return a.to < b.to || (a.to == b.to && a.from < b.from);
    };
    const bool strictly_sorted = std::adjacent_find(list_.begin(), list_.end(), std::not_fn(before)) == list_.end();
    if (strictly_sorted) return; // the usual order of writing a graph: no repeats

    const EdgeGroups incoming(nodes, list_, &EdgeRecord::to);
    std::vector<std::uint32_t> seen_by(nodes, none);
    std::vector<bool> repeated(list_.size());
    for (const std::uint32_t item : incoming.items) {
        const EdgeRecord& edge = list_[item];
        if (seen_by[edge.from] == edge.to) repeated[item] = true;
        seen_by[edge.from] = edge.to;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list_.size(); ++i)
        if (!repeated[i]) list_[kept++] = list_[i];
    if (kept == list_.size()) return;
    list_.resize(kept);
    unsettle();
}

std::vector<std::uint32_t> Edges::find_cycle(std::size_t nodes) const {
    if (are_forward(list_)) return {};

    const EdgeGroups outgoing(nodes, list_, &EdgeRecord::from);
    enum class Mark : char { unseen, on_path, done };
    std::vector<Mark> marks(nodes, Mark::unseen);
    std::vector<std::uint32_t> next(outgoing.first.begin(), outgoing.first.end() - 1);
    std::vector<std::uint32_t> path;
    for (std::uint32_t root = 0; root < nodes; ++root) {
        if (marks[root] != Mark::unseen) continue;
        path.assign(1, root);
        marks[root] = Mark::on_path;
        while (!path.empty()) {
            const std::uint32_t node = path.back();
            if (next[node] == outgoing.first[node + 1]) {
                marks[node] = Mark::done;
                path.pop_back();
                continue;
            }
            const std::uint32_t successor = list_[outgoing.items[next[node]++]].to;
            if (marks[successor] == Mark::on_path) return {std::find(path.begin(), path.end(), successor), path.end()};
            if (marks[successor] == Mark::unseen) {
                marks[successor] = Mark::on_path;
                path.push_back(successor);
            }
        }
    }
    return {};
}

std::vector<EdgeRecord> Edges::find_contradiction(std::size_t nodes) const {
    if (!has_early_) return {};
    const EdgeGroups incoming(nodes, list_, &EdgeRecord::to);
    std::vector<const EdgeRecord*> last_from(nodes);
    for (const std::uint32_t item : incoming.items) {
        const EdgeRecord& edge = list_[item];
        const EdgeRecord* earlier = std::exchange(last_from[edge.from], &edge);
        if (earlier != nullptr && earlier->to == edge.to && earlier->kind != edge.kind) return {*earlier, edge};
    }
    return {};
}

bool Edges::only_extend() const {
    const std::span added = std::span(list_).subspan(settled_);
    const bool apart = is_forward_ && are_forward(added) &&
                       (settled_ == 0 || std::all_of(added.begin(), added.end(),
                                                     [this](const EdgeRecord& edge) { return edge.to > highest_; }));
    if (!apart) return false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    ends.reserve(added.size());
    for (const EdgeRecord& edge : added)
        ends.emplace_back(edge.to, edge.from);
    std::sort(ends.begin(), ends.end());
    return std::adjacent_find(ends.begin(), ends.end()) == ends.end();
}

void Edges::settle() noexcept {
    for (; settled_ < list_.size(); ++settled_) {
        const EdgeRecord& edge = list_[settled_];
        is_forward_ = is_forward_ && edge.from < edge.to;
        highest_ = std::max(highest_, edge.to);
    }
}

void Edges::unsettle() noexcept {
    settled_ = 0;
    is_forward_ = true;
    highest_ = 0;
}

} // namespace cudag::detail
