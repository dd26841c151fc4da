// The summary of run records: a Profile.
#include "profile_summary.hpp"

#include "plan/choice.hpp"
#include "run_order.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace cudag::detail {

namespace {

using Records = std::span<const RunRecord>;

/// The samples of one node, one for each launch in which it ran.
struct Samples {
    std::vector<double> starts{};
    std::vector<double> durations{};
    std::size_t runs = 0;
};

/// The time of one node in one launch.
struct NodeInLaunch {
    double begin;
    double end;
    double duration;
    std::size_t runs;
};

MeasuredTime time_of(std::vector<double>& samples) {
    return samples.empty() ? MeasuredTime{} : summary_of(std::move(samples));
}

/// Splits records sorted by launch into those of each launch.
std::vector<Records> by_launch(Records records) {
    std::vector<Records> result;
    while (!records.empty()) {
        const auto next = std::ranges::find_if(
            records, [&](const RunRecord& record) { return record.launch != records.front().launch; });
        const auto count = static_cast<std::size_t>(next - records.begin());
        result.push_back(records.first(count));
        records = records.subspan(count);
    }
    return result;
}

class Summary {
  public:
    Summary(Recording&& recording, ProfiledNodes&& profiled)
        : recording_(std::move(recording)), profiled_(std::move(profiled)), ends_(ends_of(profiled_.nodes)),
          samples_(profiled_.nodes.size()) {
        launches_.count = recording_.launches;
    }

    Profile of(std::vector<RunRecord>&& records) {
        // A join keeps its node if the plan orders others without it: the node then runs at any time.
        std::erase_if(records, [&](const RunRecord& record) {
            return has_times_of_inside(record.node) || profiled_.nodes[record.node].kind == NodeKind::empty;
        });
        std::ranges::sort(records, {}, [](const RunRecord& record) {
            return std::tuple(record.launch, record.begin, record.end, record.node);
        });
        const std::vector<Records> all = by_launch(records);
        for (std::size_t i = 0; i < all.size(); ++i) {
            add(all[i]);
            if (i != 0 && all[i].front().launch == all[i - 1].front().launch + 1)
                gaps_.push_back(all[i].front().begin - end_of(all[i - 1]));
        }
        std::vector<NodeRun> timeline = all.empty() ? std::vector<NodeRun>() : timeline_of(typical(all));
        summarise_nodes();
        std::vector<std::size_t> critical = order(timeline);
        launches_.gpu_time = time_of(gpu_times_);
        launches_.idle_time = time_of(idle_times_);
        launches_.concurrency = time_of(concurrencies_).median;
        if (!gaps_.empty()) launches_.launch_gap = time_of(gaps_);
        return {Passkey(),          recording_.source,          std::move(recording_.remark),
                launches_,          std::move(profiled_.nodes), std::move(timeline),
                std::move(critical)};
    }

  private:
    [[nodiscard]] bool has_times_of_inside(std::size_t node) const {
        const NodeKind kind = profiled_.nodes[node].kind;
        if (recording_.scope == Scope::outermost) return false;
        return kind == NodeKind::child || kind == NodeKind::conditional;
    }

    [[nodiscard]] static double end_of(Records launch) {
        return std::ranges::max_element(launch, {}, &RunRecord::end)->end;
    }

    using NodesInLaunch = std::vector<std::optional<NodeInLaunch>>;

    /// A span of time in which something runs.
    struct Busy {
        double begin;
        double end;
    };

    void add(Records launch) {
        NodesInLaunch nodes(profiled_.nodes.size());
        std::vector<Busy> busy;
        for (const RunRecord& run : launch) {
            busy.push_back({run.begin, run.end});
            std::optional<NodeInLaunch>& node = nodes[run.node];
            if (!node) node = {run.begin, run.end, 0, 0};
            node->end = std::max(node->end, run.end);
            node->duration += run.end - run.begin;
            ++node->runs;
        }
        for (std::size_t i = nodes.size(); i-- > 0;) { // the nodes inside a node come after it
            const std::optional<std::size_t> around = profiled_.nodes[i].outer;
            if (!nodes[i] || !around) continue;
            std::optional<NodeInLaunch>& outer = nodes[*around];
            if (!outer) outer = {nodes[i]->begin, nodes[i]->end, 0, 1};
            outer->begin = std::min(outer->begin, nodes[i]->begin);
            outer->end = std::max(outer->end, nodes[i]->end);
        }
        if (recording_.turns == Turns::last) add_missing_turns(nodes, launch.front().begin, busy);
        add_launch(std::move(busy));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (!nodes[i]) continue;
            samples_[i].starts.push_back(nodes[i]->begin - launch.front().begin);
            samples_[i].durations.push_back(has_times_of_inside(i) ? nodes[i]->end - nodes[i]->begin
                                                                   : nodes[i]->duration);
            samples_[i].runs += nodes[i]->runs;
        }
    }

    /// Lets loops begin at the end of their predecessors: the records have no first turn.
    void add_missing_turns(NodesInLaunch& nodes, double launch_begin, std::vector<Busy>& busy) const {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (!nodes[i] || !profiled_.is_loop[i]) continue;
            const double begin = ready_at(i, nodes, launch_begin);
            if (begin >= nodes[i]->begin) continue;
            busy.push_back({begin, nodes[i]->begin});
            nodes[i]->begin = begin;
        }
    }

    /// The latest end of the predecessors of a node.
    [[nodiscard]] double ready_at(std::size_t node, const NodesInLaunch& nodes, double launch_begin) const {
        double ready = launch_begin;
        std::vector<bool> seen(nodes.size());
        std::vector<std::size_t> open{node};
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            for (const std::size_t before : profiled_.before[at]) {
                if (seen[before]) continue;
                seen[before] = true;
                if (nodes[before])
                    ready = std::max(ready, nodes[before]->end);
                else
                    open.push_back(before); // a node without times
            }
            if (profiled_.before[at].empty() && profiled_.nodes[at].outer) open.push_back(*profiled_.nodes[at].outer);
        }
        return ready;
    }

    void add_launch(std::vector<Busy>&& busy) {
        std::ranges::sort(busy, {}, &Busy::begin);
        const double begin = busy.front().begin;
        double sum = 0, any = 0, end = begin;
        for (const Busy& span : busy) {
            any += std::max(0.0, span.end - std::max(end, span.begin));
            end = std::max(end, span.end);
            sum += span.end - span.begin;
        }
        gpu_times_.push_back(end - begin);
        idle_times_.push_back(end - begin - any);
        concurrencies_.push_back(any == 0 ? 0 : sum / any);
    }

    /// The launch with the median GPU time, or the lower one of two.
    [[nodiscard]] Records typical(std::vector<Records> launches) const {
        const auto middle = launches.begin() + static_cast<std::ptrdiff_t>((launches.size() - 1) / 2);
        std::ranges::nth_element(launches, middle, {}, [](Records launch) {
            return std::pair(end_of(launch) - launch.front().begin, launch.front().launch);
        });
        return *middle;
    }

    [[nodiscard]] static std::vector<NodeRun> timeline_of(Records launch) {
        std::vector<NodeRun> timeline;
        timeline.reserve(launch.size());
        for (const RunRecord& run : launch)
            timeline.push_back({run.node, run.begin - launch.front().begin, run.end - launch.front().begin, 0});
        return timeline;
    }

    void summarise_nodes() {
        for (std::size_t i = 0; i < samples_.size(); ++i) {
            NodeProfile& node = profiled_.nodes[i];
            node.runs = static_cast<double>(samples_[i].runs) / static_cast<double>(launches_.count);
            node.start = time_of(samples_[i].starts);
            node.duration = time_of(samples_[i].durations);
        }
    }

    /// Puts the runs on lanes, marks the nodes of the critical path, and returns it.
    std::vector<std::size_t> order(std::vector<NodeRun>& timeline) {
        std::vector<NodeProfile>& nodes = profiled_.nodes;
        RunOrder runs(nodes, profiled_.before, timeline);
        const std::vector<std::size_t> lanes = runs.lanes();
        for (std::size_t i = timeline.size(); i-- > 0;)
            timeline[i].lane = nodes[timeline[i].node].lane = lanes[i]; // the first run's stays
        for (std::size_t i = nodes.size(); i-- > 0;)
            if (has_times_of_inside(i) && ends_[i] > i + 1) nodes[i].lane = nodes[i + 1].lane;
        std::vector<std::size_t> critical = runs.critical_path();
        for (const std::size_t run : critical)
            for (std::optional<std::size_t> node = timeline[run].node; node && !nodes[*node].is_critical;
                 node = nodes[*node].outer)
                nodes[*node].is_critical = true;
        return critical;
    }

    Recording recording_;
    ProfiledNodes profiled_;
    std::vector<std::size_t> ends_;
    std::vector<Samples> samples_;
    LaunchTimes launches_{};
    std::vector<double> gpu_times_{};
    std::vector<double> idle_times_{};
    std::vector<double> concurrencies_{};
    std::vector<double> gaps_{};
};

} // namespace

Profile summarise(Recording&& recording, ProfiledNodes&& profiled, std::vector<RunRecord>&& records) {
    return Summary(std::move(recording), std::move(profiled)).of(std::move(records));
}

} // namespace cudag::detail
