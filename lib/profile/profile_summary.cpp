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
    Summary(ProfiledNodes&& profiled, std::size_t launches)
        : profiled_(std::move(profiled)), ends_(ends_of(profiled_.nodes)), samples_(profiled_.nodes.size()) {
        launches_.count = launches;
    }

    Profile of(ProfileSource source, std::vector<RunRecord>&& records) {
        std::erase_if(records, [&](const RunRecord& record) { return has_inside(record.node); });
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
        return {Passkey(), source, launches_, std::move(profiled_.nodes), std::move(timeline), std::move(critical)};
    }

  private:
    [[nodiscard]] bool has_inside(std::size_t node) const {
        const NodeKind kind = profiled_.nodes[node].kind;
        return kind == NodeKind::child || kind == NodeKind::conditional;
    }

    [[nodiscard]] static double end_of(Records launch) {
        return std::ranges::max_element(launch, {}, &RunRecord::end)->end;
    }

    void add(Records launch) {
        const double begin = launch.front().begin;
        double busy = 0, sum = 0, end = begin;
        std::vector<std::optional<NodeInLaunch>> nodes(profiled_.nodes.size());
        for (const RunRecord& run : launch) {
            busy += std::max(0.0, run.end - std::max(end, run.begin));
            end = std::max(end, run.end);
            sum += run.end - run.begin;
            std::optional<NodeInLaunch>& node = nodes[run.node];
            if (!node) node = {run.begin, run.end, 0, 0};
            node->end = std::max(node->end, run.end);
            node->duration += run.end - run.begin;
            ++node->runs;
        }
        gpu_times_.push_back(end - begin);
        idle_times_.push_back(end - begin - busy);
        concurrencies_.push_back(busy == 0 ? 0 : sum / busy);
        for (std::size_t i = nodes.size(); i-- > 0;) { // the nodes inside a node come after it
            if (!nodes[i]) continue;
            if (has_inside(i)) nodes[i]->duration = nodes[i]->end - nodes[i]->begin;
            samples_[i].starts.push_back(nodes[i]->begin - begin);
            samples_[i].durations.push_back(nodes[i]->duration);
            samples_[i].runs += nodes[i]->runs;
            if (!profiled_.nodes[i].outer) continue;
            std::optional<NodeInLaunch>& outer = nodes[*profiled_.nodes[i].outer];
            if (!outer) outer = {nodes[i]->begin, nodes[i]->end, 0, 1};
            outer->begin = std::min(outer->begin, nodes[i]->begin);
            outer->end = std::max(outer->end, nodes[i]->end);
        }
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
            if (has_inside(i) && ends_[i] > i + 1) nodes[i].lane = nodes[i + 1].lane;
        std::vector<std::size_t> critical = runs.critical_path();
        for (const std::size_t run : critical)
            for (std::optional<std::size_t> node = timeline[run].node; node && !nodes[*node].is_critical;
                 node = nodes[*node].outer)
                nodes[*node].is_critical = true;
        return critical;
    }

    ProfiledNodes profiled_;
    std::vector<std::size_t> ends_;
    std::vector<Samples> samples_;
    Profile::Launches launches_{};
    std::vector<double> gpu_times_{};
    std::vector<double> idle_times_{};
    std::vector<double> concurrencies_{};
    std::vector<double> gaps_{};
};

} // namespace

Profile summarise(ProfileSource source, std::size_t launches, ProfiledNodes&& profiled,
                  std::vector<RunRecord>&& records) {
    return Summary(std::move(profiled), launches).of(source, std::move(records));
}

} // namespace cudag::detail
