// What graphs cost whose edges cudag gives to CUDA, beside the plain Runtime API, which is given them as they are
// written: for each shape, building, instantiating and the first launch, and later launches with kernels of several
// durations. The ways are measured in turns.
#include "launch_timer.hpp"
#include "options.hpp"
#include "plan_rows.hpp"
#include "shape_graphs.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Family;
using bench::LaunchTimer;
using bench::microseconds;
using bench::PlanRow;
using bench::Shape;

/// A way in which cudag makes a graph executable whose kernels take so many microseconds.
struct Variant {
    const char* name;
    cudag::Exec (*instantiate)(const cudag::Graph& graph, int duration);
};
using Variants = std::vector<Variant>;

const Variant as_written{"as written", [](const cudag::Graph& graph, int) {
                             return graph.instantiate({.plan = cudag::Plan::as_written()});
                         }};
const Variant planned{"planned", [](const cudag::Graph& graph, int) { return graph.instantiate(); }};
const Variant by_durations{"durations", [](const cudag::Graph& graph, int duration) {
                               std::vector<double> durations(graph.node_count(), duration);
                               return graph.instantiate({.plan = {.durations = std::move(durations)}});
                           }};

/// The last one is judged.
Variants variants_for(const std::string& way) {
    if (way == planned.name) return {as_written, planned};
    if (way == by_durations.name) return {planned, by_durations};
    throw bench::UsageError("--way takes planned or durations, not \"" + way + "\"");
}

std::vector<std::string> names(const Variants& variants) {
    std::vector<std::string> list{"raw"};
    for (const Variant& variant : variants)
        list.push_back(variant.name);
    return list;
}

/// The ratio to stay below, or 0: never worse, and far better where CUDA is slow with edges as written.
double goal(const std::string& metric, Family family, int duration, const Variant& judged) {
    const bool is_joined = family == Family::joined_layers || family == Family::batches || family == Family::when_all;
    const bool can_gain = is_joined || family == Family::redundant_line || family == Family::layers;
    if (judged.name == by_durations.name) {
        const bool is_wide = (family == Family::chains || family == Family::layers) && duration <= 5;
        if (metric == "launch call") return is_wide ? 1 / 5.0 : 1.02;
        if (metric == "GPU time") return is_wide ? 1 / 2.0 : 1.02;
        return 0;
    }
    if (metric == "instantiate") return can_gain ? 1 / 5.0 : 0;
    if (metric == "build + instantiate") return 1.05;
    if (metric == "launch call") return is_joined ? 1 / 10.0 : 1.02;
    if (metric == "GPU time") return can_gain && duration == 0 ? 1 / 1.5 : 1.02;
    return 0;
}

/// Samples of one metric, by way: the Runtime API, and the variants.
struct Samples {
    std::string metric;
    std::vector<std::vector<double>> of_way;

    Samples(std::string name, const Variants& variants) : metric(std::move(name)), of_way(1 + variants.size()) {}

    [[nodiscard]] PlanRow row(const Shape& shape, int duration, const Variant& judged) const {
        PlanRow result{shape.name(), duration, metric, goal(metric, shape.family(), duration, judged), {}};
        for (const std::vector<double>& samples : of_way)
            result.ways.push_back(bench::estimate(samples));
        return result;
    }
};

/// Calls `measure(way, is_sample)` for each way, `repeat` times and a few that are no samples; each comes first as
/// often as the others.
template <class Measure>
void in_turns(std::size_t ways, int repeat, Measure&& measure) {
    constexpr int warm_up = 3;
    std::vector<std::size_t> order(ways);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int round = -warm_up; round < repeat; ++round) {
        for (const std::size_t way : order)
            measure(way, round >= 0);
        std::rotate(order.begin(), order.begin() + 1, order.end());
    }
}

/// A graph made in each way.
struct Graphs {
    Graphs(const Shape& shape, int duration, const Variants& variants) {
        const unsigned nanoseconds = static_cast<unsigned>(duration) * 1000;
        raw.build(shape, nanoseconds);
        raw.instantiate();
        for (const Variant& variant : variants)
            execs.push_back(variant.instantiate(bench::build_graph(shape, nanoseconds), duration));
    }

    void launch(std::size_t way, const cudag::Stream& stream) {
        if (way == 0)
            cudag::check(cudaGraphLaunch(raw.exec, stream.get()));
        else
            execs[way - 1].launch(stream);
    }

    bench::RawShape raw;
    std::vector<cudag::Exec> execs;
};

/// Building does not depend on what kernels do.
std::vector<PlanRow> measure_building(const Shape& shape, const Variants& variants, const LaunchTimer& timer,
                                      const bench::Options& options) {
    const int duration = options.durations.front();
    const unsigned nanoseconds = static_cast<unsigned>(duration) * 1000;
    const cudag::Stream& stream = timer.stream();
    const Variant& judged = variants.back();
    Samples both("build + instantiate", variants);
    Samples instantiate("instantiate", variants);
    Samples first("first launch, done", variants);
    in_turns(1 + variants.size(), options.repeat, [&](std::size_t way, bool is_sample) {
        double built = 0, instantiated = 0, launched = 0;
        const auto launch = [&](auto&& call) {
            launched = microseconds([&] {
                call();
                stream.synchronize();
            });
        };
        if (way == 0) {
            bench::RawShape raw;
            built = microseconds([&] { raw.build(shape, nanoseconds); });
            instantiated = microseconds([&] { raw.instantiate(); });
            launch([&] { cudag::check(cudaGraphLaunch(raw.exec, stream.get())); });
        } else {
            std::optional<cudag::Graph> graph;
            std::optional<cudag::Exec> exec;
            built = microseconds([&] { graph = bench::build_graph(shape, nanoseconds); });
            instantiated = microseconds([&] { exec = variants[way - 1].instantiate(*graph, duration); });
            launch([&] { exec->launch(stream); });
        }
        if (!is_sample) return;
        both.of_way[way].push_back(built + instantiated);
        instantiate.of_way[way].push_back(instantiated);
        first.of_way[way].push_back(launched);
    });
    return {both.row(shape, duration, judged), instantiate.row(shape, duration, judged),
            first.row(shape, duration, judged)};
}

std::vector<PlanRow> measure_launches(const Shape& shape, int duration, const Variants& variants, LaunchTimer& timer,
                                      int repeat) {
    Graphs graphs(shape, duration, variants);
    Samples call("launch call", variants);
    Samples gpu("GPU time", variants);
    in_turns(1 + variants.size(), repeat, [&](std::size_t way, bool is_sample) {
        const bench::LaunchTimes times = timer([&] { graphs.launch(way, timer.stream()); });
        if (!is_sample) return;
        call.of_way[way].push_back(times.call);
        gpu.of_way[way].push_back(times.gpu);
    });
    return {call.row(shape, duration, variants.back()), gpu.row(shape, duration, variants.back())};
}

bool run(const bench::Options& options) {
    const Variants variants = variants_for(*options.way);
    LaunchTimer timer;
    cudag::launch(timer.stream(), {.block = 32}, spin, 0U); // the first use of a kernel loads it
    timer.stream().synchronize();
    std::vector<PlanRow> rows;
    const auto add = [&](std::vector<PlanRow> measured) {
        for (PlanRow& row : measured) {
            bench::print_plan_row(row);
            rows.push_back(std::move(row));
        }
    };
    bench::print_plan_header(names(variants));
    for (const Shape& shape : bench::all_shapes(*options.percent / 100.0)) {
        if (shape.name().find(*options.shape) == std::string::npos) continue;
        add(measure_building(shape, variants, timer, options));
        for (const int duration : options.durations)
            add(measure_launches(shape, duration, variants, timer, options.repeat));
    }
    if (!options.json.empty()) bench::write_plan_rows(options.json, names(variants), rows);
    return bench::print_plan_summary(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(
        argc, argv, {.durations = {0, 5, 50}, .repeat = 25, .shape = "", .way = "planned", .percent = 100}, run);
}
