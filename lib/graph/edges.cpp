// Logical edges: added, merged, and searched for cycles and contradictions.
#include "cuda/failure.hpp"
#include "graph_state.hpp"
#include "plan/edge_groups.hpp"

#include <cudag/format.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <utility>

namespace cudag::detail {

namespace {

const Node& node_of(const Node& source) {
    return source;
}
const Node& node_of(const Dependency& source) {
    return source.node;
}
EdgeKind kind_of(const Node&) {
    return EdgeKind::full;
}
EdgeKind kind_of(const Dependency& source) {
    return source.kind;
}

bool are_forward(std::span<const EdgeRecord> edges) {
    return std::all_of(edges.begin(), edges.end(), [](const EdgeRecord& edge) { return edge.from < edge.to; });
}

} // namespace

void add_edges(const Node& to, const Node* from, std::size_t count) {
    GraphState::of(to).add_edges(to, from, count);
}
void add_edges(const Node& to, const Dependency* from, std::size_t count) {
    GraphState::of(to).add_edges(to, from, count);
}

void GraphState::add_edges(const Node& to, const Node* from, std::size_t count) {
    add_edges_from(to, std::span(from, count));
}

void GraphState::add_edges(const Node& to, const Dependency* from, std::size_t count) {
    add_edges_from(to, std::span(from, count));
    has_early_edges_ = true;
}

template <class Sources>
void GraphState::add_edges_from(const Node& to, const Sources& sources) {
    const std::uint32_t target = index_unchecked(to);
    if (is_built() && place() == Place::body)
        refuse("the body that it is in has ended; edges are added inside it", node_subject(*this, target, "after: "));
    if (is_built())
        refuse(made_at_.line == 0 ? "its Graph is built; edges are added before build()"
                                  : fmt::format("its Graph is built, at {}; edges are added before build()", made_at_),
               node_subject(*this, target, "after: "));
    const std::size_t before = edges_.size();
    try {
        for (const auto& from : sources) {
            const std::uint32_t source = index_of(node_of(from), "after");
            if (source == target) refuse("a node cannot come after itself", node_subject(*this, target, "after: "));
            edges_.push_back({source, target, kind_of(from)});
        }
    } catch (...) {
        edges_.resize(before);
        throw;
    }
}

std::vector<EdgeRecord> GraphState::find_contradiction() const {
    if (!has_early_edges_) return {};
    place_captured_edges();
    const EdgeGroups incoming(nodes_.size(), edges_, &EdgeRecord::to);
    std::vector<const EdgeRecord*> last_from(nodes_.size());
    for (const std::uint32_t item : incoming.items) {
        const EdgeRecord& edge = edges_[item];
        const EdgeRecord* earlier = std::exchange(last_from[edge.from], &edge);
        if (earlier != nullptr && earlier->to == edge.to && earlier->kind != edge.kind) return {*earlier, edge};
    }
    return {};
}

void GraphState::merge_edges() {
    place_captured_edges();
    const auto before = [](const EdgeRecord& a, const EdgeRecord& b) {
        return a.to < b.to || (a.to == b.to && a.from < b.from);
    };
    const bool strictly_sorted = std::adjacent_find(edges_.begin(), edges_.end(), std::not_fn(before)) == edges_.end();
    if (strictly_sorted) return; // the usual order of writing a graph: no repeats

    const EdgeGroups incoming(nodes_.size(), edges_, &EdgeRecord::to);
    std::vector<std::uint32_t> seen_by(nodes_.size(), std::numeric_limits<std::uint32_t>::max());
    std::vector<bool> repeated(edges_.size());
    bool any = false;
    for (const std::uint32_t item : incoming.items) {
        const EdgeRecord& edge = edges_[item];
        if (seen_by[edge.from] == edge.to) any = repeated[item] = true;
        seen_by[edge.from] = edge.to;
    }
    if (!any) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i)
        if (!repeated[i]) edges_[kept++] = edges_[i];
    edges_.resize(kept);
}

void GraphState::settle_edges(const char* action) {
    place_captured_edges();
    if (!adds_to_settled()) {
        check_edges(action);
        merge_edges();
        settled_forward_ = are_forward(edges_);
        settled_edges_ = 0;
        highest_settled_ = 0;
    }
    for (; settled_edges_ < edges_.size(); ++settled_edges_)
        highest_settled_ = std::max(highest_settled_, edges_[settled_edges_].to);
}

bool GraphState::adds_to_settled() const {
    const std::span added = std::span(edges_).subspan(settled_edges_);
    const bool apart = settled_forward_ && are_forward(added) &&
                       (settled_edges_ == 0 || std::all_of(added.begin(), added.end(), [this](const EdgeRecord& edge) {
                            return edge.to > highest_settled_;
                        }));
    if (!apart) return false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    ends.reserve(added.size());
    for (const EdgeRecord& edge : added)
        ends.emplace_back(edge.to, edge.from);
    std::sort(ends.begin(), ends.end());
    return std::adjacent_find(ends.begin(), ends.end()) == ends.end();
}

std::vector<std::uint32_t> GraphState::find_cycle() const {
    place_captured_edges();
    if (are_forward(edges_)) return {};

    const EdgeGroups outgoing(nodes_.size(), edges_, &EdgeRecord::from);
    enum class Mark : char { unseen, on_path, done };
    std::vector<Mark> marks(nodes_.size(), Mark::unseen);
    std::vector<std::uint32_t> next(outgoing.first.begin(), outgoing.first.end() - 1);
    std::vector<std::uint32_t> path;
    for (std::uint32_t root = 0; root < nodes_.size(); ++root) {
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
            const std::uint32_t successor = edges_[outgoing.items[next[node]++]].to;
            if (marks[successor] == Mark::on_path) return {std::find(path.begin(), path.end(), successor), path.end()};
            if (marks[successor] == Mark::unseen) {
                marks[successor] = Mark::on_path;
                path.push_back(successor);
            }
        }
    }
    return {};
}

} // namespace cudag::detail
