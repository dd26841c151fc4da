// Timing of a graph instantiated by several plans.
#include <cudag/tune.hpp>

#include "cuda/failure.hpp"
#include "cuda/stream_status.hpp"
#include "exec_state.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/native_graph.hpp"
#include "graph/planning.hpp"
#include "plan/choice.hpp"
#include "tuned_structure.hpp"

#include <cudag/event.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

namespace {

constexpr unsigned launches_in_a_row = 8;
constexpr std::size_t least_rounds = 4; ///< fewer say too little to give up a candidate

class Clock {
  public:
    /// The time since construction.
    [[nodiscard]] std::chrono::steady_clock::duration elapsed() const {
        return std::chrono::steady_clock::now() - start_;
    }
    [[nodiscard]] double microseconds() const { return std::chrono::duration<double, std::micro>(elapsed()).count(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool is_same(const std::vector<PlannedGraph>& a, const std::vector<PlannedGraph>& b) {
    const auto is_same_graph = [](const PlannedGraph& x, const PlannedGraph& y) {
        return x.graph == y.graph && x.planned->kernels == y.planned->kernels && x.planned->edges == y.planned->edges;
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same_graph);
}

void check_options(const TuneOptions& options) {
    if (options.repetitions == 0) refuse("tune: repetitions is 0; it must be at least 1");
    if (options.candidates && options.candidates->empty())
        refuse("tune: candidates is an empty list; give at least one Plan, or no list for those that cudag knows");
    if (options.time_limit && *options.time_limit <= options.time_limit->zero())
        refuse(fmt::format("tune: time_limit is {} ns; it must be positive, or no value for no limit",
                           options.time_limit->count()));
}

void check_stream(cudaStream_t stream) {
    if (is_captured(stream))
        refuse<CaptureError>("tune: the stream is being captured, where nothing runs that could be timed; end the "
                             "capture first, or give another stream",
                             {}, cudaErrorStreamCaptureUnsupported);
}

} // namespace

class Tuner {
  public:
    Tuner(const Graph& graph, StreamRef stream, const TuneOptions& options)
        : graph_(graph), stream_(stream), options_(options), is_exclusive_(has_one_exec(Access::state(graph))) {}

    Tuned run() {
        check_stream(stream_.get());
        wait();
        begun_ = Clock();
        try {
            add_candidates();
            if (!is_exclusive_) measure_in_turns();
            return finish();
        } catch (...) {
            ignore(cudaStreamSynchronize(stream_.get())); // other launches may precede the failed one
            throw;
        }
    }

  private:
    /// A set of edges given to CUDA, by at least one candidate.
    struct Way {
        std::size_t row; ///< of the first such candidate
        std::vector<PlannedGraph> planned;
        std::optional<Exec> exec; ///< if the graph can have only one exec: of the last way only
        std::vector<double> launch_calls = {};
        std::vector<double> gpu_times = {};
        std::vector<double> intervals = {};
        bool is_out = false; ///< it can no longer be chosen

        [[nodiscard]] std::size_t rounds() const noexcept { return intervals.size(); }
        [[nodiscard]] const std::vector<double>& samples(TuneGoal goal) const noexcept {
            return goal == TuneGoal::interval ? intervals : goal == TuneGoal::gpu_time ? gpu_times : launch_calls;
        }
    };

    [[nodiscard]] static bool has_one_exec(GraphState& graph) {
        require_root(graph, "tune");
        read_all(graph);
        return find_unlike(graph, &KindRules::can_have_execs) || static_cast<bool>(find_device_updatable(graph));
    }

    void add_candidates() {
        if (options_.candidates) {
            for (const Plan& plan : *options_.candidates)
                add(plan);
            return;
        }
        add({});
        add(Plan::as_written());
        add({.joins = false, .ends = false});
        add({.ends = false});
        add_lanes();
    }

    /// Doubles the lanes, up to the number of nodes that can run at once.
    void add_lanes() {
        for (unsigned lanes = 1; lanes != 0; lanes *= 2) {
            const std::size_t before = rows_.size();
            add({.lanes = lanes});
            if (rows_.size() == before) return;
            if (!rows_.back().same_as) continue;
            rows_.pop_back();
            return;
        }
    }

    /// Adds a candidate, unless the time is over. The first one is always added, and measured at least once.
    void add(const Plan& plan) {
        if (must_end() && !ways_.empty()) return;
        if (is_exclusive_ && !ways_.empty()) ways_.back().exec.reset();
        Exec exec = instantiate(plan);
        const PlanReport report = exec.plan();
        TuneRow row{name_of(plan),
                    plan,
                    tree_of(Access::state(exec).source()).node_total() + report.kernels(),
                    report.edges_after(),
                    {},
                    {},
                    {}};
        const std::vector<PlannedGraph>& planned = Access::state(exec).plan().graphs;
        const auto known =
            std::find_if(ways_.begin(), ways_.end(), [&](const Way& way) { return is_same(way.planned, planned); });
        if (known != ways_.end()) {
            row.same_as = known->row;
            rows_.push_back(std::move(row));
            return;
        }
        ways_.push_back({rows_.size(), planned, std::move(exec)});
        rows_.push_back(std::move(row));
        warm_up(*ways_.back().exec);
        if (is_exclusive_) measure_alone(ways_.back());
    }

    /// Measures a way as long as it may be chosen instead of the earlier ones.
    void measure_alone(Way& way) {
        do
            measure(way);
        while (!must_end() && way.rounds() < options_.repetitions &&
               (way.rounds() < least_rounds || (give_up_losers(), !way.is_out)));
    }

    [[nodiscard]] Exec instantiate(const Plan& plan) const {
        InstantiateOptions options = options_.instantiate;
        options.plan = plan;
        return graph_.instantiate(options);
    }

    void wait() {
        end_.record(stream_);
        end_.synchronize();
    }

    /// The first launch takes CUDA's resources. No upload before it: if processes share a GPU, a launch behind an
    /// unfinished upload may never start (driver 580).
    void warm_up(Exec& exec) {
        exec.launch(stream_);
        ++launches_;
        wait();
    }

    /// Measures the ways in rotation: each comes first equally often. A way that can no longer be chosen is left out.
    void measure_in_turns() {
        for (std::size_t first = 0; first < options_.repetitions; ++first) {
            for (std::size_t i = 0; i < ways_.size(); ++i) {
                Way& way = ways_[(first + i) % ways_.size()];
                if (way.is_out) continue;
                measure(way);
                if (must_end()) return;
            }
            if (first + 1 < least_rounds) continue;
            give_up_losers();
            if (contenders() == 1) return;
        }
    }

    [[nodiscard]] bool must_end() const {
        return is_stopped_ || (options_.time_limit && begun_.elapsed() >= *options_.time_limit);
    }

    [[nodiscard]] std::size_t contenders() const {
        return static_cast<std::size_t>(std::ranges::count(ways_, false, &Way::is_out));
    }

    /// The measured ways, in their order, with their times so far.
    struct Standing {
        std::vector<std::size_t> ways = {};
        std::vector<TuneTime> times = {};
        std::size_t chosen = 0; ///< index into both
    };

    [[nodiscard]] Standing standing() const {
        Standing now;
        for (std::size_t i = 0; i < ways_.size(); ++i) {
            if (ways_[i].rounds() == 0) continue;
            now.ways.push_back(i);
            now.times.push_back(summary_of(ways_[i].samples(options_.goal)));
        }
        now.chosen = choose(now.times);
        return now;
    }

    void give_up_losers() {
        const Standing now = standing();
        for (std::size_t i = 0; i < now.ways.size(); ++i)
            if (i != now.chosen && !can_become_choice(now.times[i], now.times[now.chosen], i < now.chosen))
                ways_[now.ways[i]].is_out = true;
    }

    void report_progress() {
        if (!options_.on_progress) return;
        const Standing now = standing();
        const bool goes_on = options_.on_progress({.elapsed = begun_.elapsed(),
                                                   .launches = launches_,
                                                   .candidates = ways_.size(),
                                                   .contenders = contenders(),
                                                   .best = rows_[ways_[now.ways[now.chosen]].row].name,
                                                   .time = now.times[now.chosen]});
        if (!goes_on) is_stopped_ = true;
    }

    void measure(Way& way) {
        Exec& exec = *way.exec;
        start_.record(stream_);
        const Clock call;
        exec.launch(stream_);
        way.launch_calls.push_back(call.microseconds());
        wait();
        way.gpu_times.push_back(1000.0 * static_cast<double>(end_.milliseconds_since(start_)));
        const Clock all;
        for (unsigned i = 0; i < launches_in_a_row; ++i)
            exec.launch(stream_);
        wait();
        way.intervals.push_back(all.microseconds() / launches_in_a_row);
        launches_ += 1 + launches_in_a_row;
        report_progress();
    }

    /// Removes the candidates whose times are not known.
    void drop_unmeasured() {
        std::vector<std::size_t> index_of(rows_.size(), rows_.size()); ///< by row: its new index
        std::vector<TuneRow> rows;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            TuneRow& row = rows_[i];
            const std::size_t first = row.same_as.value_or(i);
            if (std::ranges::find(ways_, first, &Way::row)->rounds() == 0) continue;
            index_of[i] = rows.size();
            if (row.same_as) row.same_as = index_of[first];
            rows.push_back(std::move(row));
        }
        std::erase_if(ways_, [](const Way& way) { return way.rounds() == 0; });
        for (Way& way : ways_)
            way.row = index_of[way.row];
        rows_ = std::move(rows);
    }

    [[nodiscard]] Tuned finish() {
        if (ways_.front().rounds() == 0) measure(ways_.front()); // the time was over before
        drop_unmeasured();
        return choose_one();
    }

    [[nodiscard]] Tuned choose_one() {
        for (Way& way : ways_) {
            TuneRow& row = rows_[way.row];
            row.launch_call = summary_of(std::move(way.launch_calls));
            row.gpu_time = summary_of(std::move(way.gpu_times));
            row.rounds = way.rounds();
            row.interval = summary_of(std::move(way.intervals));
        }
        std::vector<TuneTime> times;
        for (TuneRow& row : rows_) {
            if (row.same_as) {
                const TuneRow& same = rows_[*row.same_as];
                row.launch_call = same.launch_call;
                row.gpu_time = same.gpu_time;
                row.interval = same.interval;
                row.rounds = same.rounds;
            }
            times.push_back(row.of(options_.goal));
        }
        const std::size_t chosen = choose(times);
        TunedPlan plan(Passkey(), rows_[chosen].plan, options_.goal, structure());
        Exec exec = take_exec(chosen);
        return {std::move(exec), TuneReport(Passkey(), std::move(rows_), chosen, options_.goal), std::move(plan)};
    }

    [[nodiscard]] TunedStructure structure() const {
        const GraphState& graph = Access::state(graph_);
        const auto lock = lock_of(graph);
        return tuned_structure_of(graph);
    }

    /// Returns the exec of the chosen plan, with the plan's edges in CUDA's graph.
    [[nodiscard]] Exec take_exec(std::size_t row) {
        const Plan& plan = rows_[row].plan;
        const auto way = std::find_if(ways_.begin(), ways_.end(), [&](const Way& each) { return each.row == row; });
        if (!way->exec) {
            ways_.back().exec.reset();
            return instantiate(plan);
        }
        const auto lock = lock_of(Access::state(graph_));
        complete_native(Access::state(graph_), &plan);
        return std::move(*way->exec);
    }

    const Graph& graph_;
    StreamRef stream_;
    const TuneOptions& options_;
    const bool is_exclusive_;
    Event start_;
    Event end_;
    Clock begun_;
    std::size_t launches_ = 0;
    bool is_stopped_ = false; ///< by the callback
    std::vector<TuneRow> rows_;
    std::vector<Way> ways_;
};

} // namespace detail

Tuned tune(const Graph& graph, StreamRef stream, const TuneOptions& options) {
    detail::check_options(options);
    return detail::Tuner(graph, stream, options).run();
}

} // namespace cudag
