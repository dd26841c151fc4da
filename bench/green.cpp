// A small graph beside a large one: its latency, with the device shared and with a part of the multiprocessors.
#include "kernels.hpp"
#include "options.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using cudag::GreenContext;

constexpr unsigned small_part = 16;    // multiprocessors
constexpr unsigned small_kernels = 8;  // in a line
constexpr unsigned large_kernels = 10; // in a line
constexpr unsigned waves = 8;          // of blocks that fill the device

/// A line of kernels on `part`; on the whole device if it is null.
cudag::Exec line(const GreenContext* part, unsigned kernels, unsigned blocks, unsigned nanoseconds) {
    cudag::GraphBuilder b;
    cudag::GraphBuilder place = part == nullptr ? b.on(0) : b.on(*part);
    cudag::Node before;
    for (unsigned i = 0; i < kernels; ++i) {
        auto kernel = place.kernel({.grid = blocks, .block = 1024}, spin, nanoseconds);
        if (i != 0) kernel.after(before);
        before = kernel;
    }
    return std::move(b).build().instantiate();
}

/// A small and a large graph.
struct Pair {
    cudag::Exec small, large;
};

/// Both times in microseconds, from the call of the large graph's launch.
struct Latencies {
    double small, large;
};

Latencies together(Pair& graphs, const cudag::Stream& quick, const cudag::Stream& slow) {
    Latencies found{};
    found.large = bench::microseconds([&] {
        graphs.large.launch(slow);
        found.small = bench::microseconds([&] {
            graphs.small.launch(quick);
            quick.synchronize();
        });
        slow.synchronize();
    });
    return found;
}

bool run(const bench::Options& options) {
    int multiprocessors = 0;
    cudag::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    const auto percent = static_cast<unsigned>(*options.percent);
    const unsigned nanoseconds = 500U * percent;
    const unsigned blocks = 2U * std::max(waves * percent / 100, 1U) * static_cast<unsigned>(multiprocessors);
    const unsigned part = std::min(small_part, static_cast<unsigned>(multiprocessors) / 2);
    const auto parts = GreenContext::split({part, GreenContext::rest});
    Pair shared{line(nullptr, small_kernels, 1, 0), line(nullptr, large_kernels, blocks, nanoseconds)};
    Pair apart{line(&parts[0], small_kernels, 1, 0), line(&parts[1], large_kernels, blocks, nanoseconds)};
    const cudag::Stream quick, slow;
    std::vector<Comparison> rows{{"small graph, beside the large one", 0.5, {}, {}},
                                 {"large graph, beside the small one", 0, {}, {}},
                                 {"small graph, alone", 0, {}, {}}};
    bench::rounds(options.repeat, {&rows[0], &rows[1], &rows[2]}, [&](int round) {
        Latencies whole{}, green{};
        bench::compare(
            rows[0], round, [&] { return (whole = together(shared, quick, slow)).small; },
            [&] { return (green = together(apart, quick, slow)).small; });
        rows[1].raw.push_back(whole.large);
        rows[1].cudag.push_back(green.large);
        const auto alone = [&](Pair& graphs) {
            return bench::microseconds([&] {
                graphs.small.launch(quick);
                quick.synchronize();
            });
        };
        bench::compare(
            rows[2], round, [&] { return alone(shared); }, [&] { return alone(apart); });
    });
    bench::report("a graph of " + std::to_string(small_kernels) + " small kernels beside one that fills the device: " +
                      "without and with green contexts of " + std::to_string(parts[0].multiprocessors()) + " and " +
                      std::to_string(parts[1].multiprocessors()) + " multiprocessors, " +
                      std::to_string(options.repeat) + " rounds",
                  rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.repeat = 51, .percent = 100}, run);
}
