// The order of the runs of a launch: awaited runs, the critical path, and lanes.
#include "run_order.hpp"

#include <algorithm>
#include <utility>

namespace cudag::detail {

std::vector<std::size_t> ends_of(std::span<const NodeProfile> nodes) {
    std::vector<std::size_t> ends(nodes.size());
    for (std::size_t i = nodes.size(); i-- > 0;) {
        ends[i] = std::max(ends[i], i + 1);
        if (nodes[i].outer) ends[*nodes[i].outer] = std::max(ends[*nodes[i].outer], ends[i]);
    }
    return ends;
}

RunOrder::RunOrder(std::span<const NodeProfile> nodes, const std::vector<std::vector<std::size_t>>& before,
                   std::span<const NodeRun> runs)
    : nodes_(nodes), before_(before), runs_(runs), ends_(ends_of(nodes)), runs_of_(nodes.size()),
      runs_up_to_(nodes.size() + 1), ranks_(runs.size()), marks_(nodes.size()) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::vector<std::size_t>& of_node = runs_of_[runs[i].node];
        ranks_[i] = of_node.size();
        of_node.push_back(i);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
        runs_up_to_[i + 1] = runs_up_to_[i] + runs_of_[i].size();
}

bool RunOrder::has_run(std::size_t node) const {
    return runs_up_to_[ends_[node]] != runs_up_to_[node];
}

bool RunOrder::mark(std::size_t node) {
    return std::exchange(marks_[node], search_) != search_;
}

void RunOrder::consider(std::optional<std::size_t> candidate, std::optional<std::size_t>& best) const {
    if (candidate && (!best || runs_[*candidate].end > runs_[*best].end)) best = candidate;
}

std::optional<std::size_t> RunOrder::latest(std::size_t node, std::size_t run) const {
    std::optional<std::size_t> best;
    for (std::size_t i = node; i < ends_[node]; ++i) {
        const auto after = std::ranges::lower_bound(runs_of_[i], run);
        if (after != runs_of_[i].begin()) consider(*std::prev(after), best);
    }
    return best;
}

std::optional<std::size_t> RunOrder::in_last_turn(std::size_t loop, std::size_t run) const {
    if (ranks_[run] == 0) return std::nullopt;
    std::optional<std::size_t> best;
    for (std::size_t i = loop + 1; i < ends_[loop]; ++i) {
        const std::vector<std::size_t>& runs = runs_of_[i];
        auto after = std::ranges::lower_bound(runs, run);
        // A node of this graph itself has one run in each turn: those of this turn may have begun before, too.
        if (nodes_[i].outer == loop)
            after = std::min(after, runs.begin() + static_cast<std::ptrdiff_t>(std::min(ranks_[run], runs.size())));
        if (after != runs.begin()) consider(*std::prev(after), best);
    }
    return best;
}

std::optional<std::size_t> RunOrder::awaited(std::size_t run) {
    std::optional<std::size_t> best;
    ++search_;
    std::vector<std::size_t> open{runs_[run].node};
    while (!open.empty()) {
        const std::size_t node = open.back();
        open.pop_back();
        for (const std::size_t other : before_[node]) {
            if (!mark(other)) continue;
            if (has_run(other))
                consider(latest(other, run), best);
            else
                open.push_back(other);
        }
        if (!before_[node].empty() || !nodes_[node].outer) continue;
        const std::size_t outer = *nodes_[node].outer;
        if (!mark(outer)) continue;
        const std::optional<std::size_t> last_turn =
            nodes_[outer].kind == NodeKind::conditional ? in_last_turn(outer, run) : std::nullopt;
        if (last_turn)
            consider(last_turn, best);
        else
            open.push_back(outer);
    }
    return best;
}

std::vector<std::size_t> RunOrder::critical_path() {
    std::vector<std::size_t> path;
    if (runs_.empty()) return path;
    const auto last = std::ranges::max_element(runs_, {}, &NodeRun::end);
    std::optional<std::size_t> run = static_cast<std::size_t>(last - runs_.begin());
    for (; run; run = awaited(*run)) // each began before the next
        path.push_back(*run);
    std::ranges::reverse(path);
    return path;
}

std::vector<std::size_t> RunOrder::lanes() {
    std::vector<std::size_t> lanes(runs_.size());
    std::vector<double> free_from;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
        const auto is_free = [&](std::size_t lane) { return free_from[lane] <= runs_[run].begin; };
        const std::optional<std::size_t> before = awaited(run);
        std::size_t lane = 0;
        if (before && is_free(lanes[*before]))
            lane = lanes[*before];
        else
            while (lane < free_from.size() && !is_free(lane))
                ++lane;
        if (lane == free_from.size()) free_from.push_back(0);
        free_from[lane] = runs_[run].end;
        lanes[run] = lane;
    }
    return lanes;
}

} // namespace cudag::detail
