// What it costs to run kernels side by side on so many lanes: the measurements behind the plan's choice of lanes.
// Prints them, and as C++.
#include "launch_timer.hpp"
#include "options.hpp"
#include "report.hpp"
#include "shape_graphs.hpp"

#include <cstdio>
#include <vector>

namespace {

constexpr unsigned kernels = 1024;
constexpr unsigned most_lanes = 128;

/// What the device takes for a launch of `shape`, as cudag plans it.
double time_on_gpu(const bench::Shape& shape, int duration, bench::LaunchTimer& timer, int repeat) {
    cudag::Exec exec = bench::build_graph(shape, static_cast<unsigned>(duration) * 1000).instantiate();
    std::vector<double> samples;
    for (int round = -3; round < repeat; ++round) {
        const bench::LaunchTimes times = timer([&] { exec.launch(timer.stream()); });
        if (round >= 0) samples.push_back(times.gpu);
    }
    return bench::median(samples);
}

bool run(const bench::Options& options) {
    bench::LaunchTimer timer;
    cudag::launch(timer.stream(), {.block = 32}, spin, 0U); // the first use of a kernel loads it
    timer.stream().synchronize();

    std::printf("%u kernels in chains side by side: medians, microseconds between one kernel's end and the next's "
                "begin\nlanes",
                kernels);
    for (const int duration : options.durations)
        std::printf(" %6d us", duration);
    std::printf("\n");
    for (unsigned lanes = 1; lanes <= most_lanes; lanes *= 2) {
        const bench::Shape chains = bench::chains(lanes, kernels / lanes);
        std::printf("{");
        for (const int duration : options.durations) {
            const double time = time_on_gpu(chains, duration, timer, options.repeat);
            std::printf(" %.2f,", time / (kernels / lanes) - duration);
        }
        std::printf(" }, // %u\n", lanes);
        std::fflush(stdout);
    }

    const unsigned forks = kernels / 4;
    std::printf("\n%u forks into 3 that meet again: microseconds longer than as many kernels in a line, for each "
                "fork\n",
                forks);
    for (const int duration : options.durations) {
        std::vector<unsigned> widths;
        for (unsigned i = 0; i < forks; ++i)
            widths.insert(widths.end(), {1U, 3U});
        const double by_forks =
            time_on_gpu(bench::layers(widths, bench::Between::edges), duration, timer, options.repeat);
        const double in_line = time_on_gpu(bench::line(2 * forks), duration, timer, options.repeat);
        std::printf("%d us: %.2f\n", duration, (by_forks - in_line) / forks);
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.durations = {0, 5, 20, 50}, .repeat = 11}, run);
}
