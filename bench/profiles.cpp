// What profiles say, beside launches that nothing measures: the critical path of a decoder against its GPU time; and
// graphs planned by measured durations against the default plan and against `tune`.
#include "drawn_shapes.hpp"
#include "launch_timer.hpp"
#include "options.hpp"
#include "report.hpp"
#include "shape_graphs.hpp"

#include <cudag/profile.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::LaunchTimer;
using bench::Shape;

/// GPU times of several Execs, in turns.
std::vector<double> gpu_times(LaunchTimer& timer, const std::vector<cudag::Exec*>& execs, int repeat) {
    constexpr int warm_up = 3;
    std::vector<std::vector<double>> times(execs.size());
    for (int round = -warm_up; round < repeat; ++round)
        for (std::size_t i = 0; i < execs.size(); ++i) {
            const double time = timer([&] { execs[i]->launch(timer.stream()); }).gpu;
            if (round >= 0) times[i].push_back(time);
        }
    std::vector<double> medians;
    for (std::vector<double>& samples : times)
        medians.push_back(bench::median(std::move(samples)));
    return medians;
}

/// Whether the critical path is within 5 % of the GPU time, and every kernel has a time.
bool compare_path(LaunchTimer& timer, unsigned layers, int duration, int repeat) {
    const Shape shape = bench::forked_decoder(layers);
    const cudag::Graph graph = bench::build_graph(shape, static_cast<unsigned>(duration) * 1000);
    cudag::Exec exec = graph.instantiate();
    const double alone = gpu_times(timer, {&exec}, repeat).front();
    const cudag::Profile profile = cudag::profile(exec, timer.stream());
    std::size_t timed = 0;
    for (const cudag::NodeProfile& node : profile.nodes())
        timed += node.runs == 1;
    const double ratio = profile.critical_time() / profile.gpu_time().median;
    std::printf("decoder of %zu kernels, %d us, times by %s: %zu timed; GPU time %.0f us, %.0f us without a profile; "
                "critical path %.0f us, %.0f us of it in kernels: %.3f of the GPU time\n",
                profile.nodes().size(), duration, std::string(to_string(profile.source())).c_str(), timed,
                profile.gpu_time().median, alone, profile.critical_time(), profile.critical_busy_time(), ratio);
    return timed == profile.nodes().size() && ratio > 0.95 && ratio <= 1.0;
}

/// Whether the plan by a profile is at most 1.02 of the default plan and of `tune`.
bool compare_plans(LaunchTimer& timer, const Shape& shape, int duration, int repeat) {
    const unsigned nanoseconds = static_cast<unsigned>(duration) * 1000;
    const cudag::Graph first = bench::build_graph(shape, nanoseconds), second = bench::build_graph(shape, nanoseconds);
    cudag::Exec usual = first.instantiate();
    cudag::Tuned tuned = cudag::tune(bench::build_graph(shape, nanoseconds), timer.stream());
    cudag::Exec planned =
        second.instantiate({.plan = {.durations = cudag::profile(usual, timer.stream()).durations()}});
    const std::vector<double> times = gpu_times(timer, {&usual, &tuned.exec, &planned}, repeat);
    std::printf("%-32s %6d %10.1f %10.1f %10.1f %10.3f %8.3f\n", shape.name().c_str(), duration, times[0], times[1],
                times[2], times[2] / times[0], times[2] / times[1]);
    return times[2] <= 1.02 * times[0] && times[2] <= 1.02 * times[1];
}

bool run(const bench::Options& options) {
    LaunchTimer timer;
    bool good = true;
    for (const int duration : options.durations)
        good = compare_path(timer, static_cast<unsigned>(options.nodes.back()) / 21, duration, options.repeat) && good;
    std::puts("\nGPU time, microseconds                us    default       tune    profile  / default   / tune");
    constexpr unsigned families = 44;            // seeds that far apart draw from one family
    for (const unsigned first : {16U, 18U, 20U}) // map-reduce, triangular solves, Cholesky factorizations
        for (int i = 0; i < *options.shapes; ++i)
            for (const int duration : options.durations)
                good = compare_plans(timer, bench::drawn_shape(first + families * static_cast<unsigned>(i)), duration,
                                     options.repeat) &&
                       good;
    return good;
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {700}, .durations = {5, 20}, .repeat = 50, .shapes = 3}, run);
}
