// What it costs to launch graphs by an ExecCache, beside the plain Runtime API that keeps one executable graph: a graph
// that was launched before, and graphs of one structure with other arguments.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::Comparison;
using bench::microseconds;

std::vector<Comparison> measure(int nodes, cudag::Stream& stream, int repeat) {
    const std::string name = std::to_string(nodes) + " nodes: ";
    Comparison hit{name + "a hit, against a launch", 1.05, {}, {}};
    Comparison update{name + "an update, against whole update and launch", 1.05, {}, {}};

    cudag::DeviceBuffer<float> values(static_cast<std::size_t>(nodes));
    float* const data = values.data();
    cudag::launch(stream, {.block = 32}, touch, values, 0, 1.0f, 1U); // the first use of a kernel loads it
    bench::RawLine raw, raw_other;
    bench::CudagLine ours, ours_other;
    raw.build(nodes, data);
    raw.instantiate();
    raw_other.build(nodes, data);
    ours.build(nodes, data);
    ours_other.build(nodes, data);
    cudag::ExecCache cache;
    const auto launch_raw = [&] { cudag::check(cudaGraphLaunch(raw.exec, stream.get())); };

    bench::rounds(repeat, {&hit, &update}, [&](int round) {
        const auto waited = [&](auto&& work) {
            const double taken = microseconds(work);
            stream.synchronize();
            return taken;
        };
        launch_raw(); // each finds its graph as it left it
        cache.launch(*ours.graph, stream);
        stream.synchronize();
        bench::compare(
            hit, round, [&] { return waited(launch_raw); },
            [&] { return waited([&] { cache.launch(*ours.graph, stream); }); });
        const bool is_other = round % 2 != 0;
        bench::compare(
            update, round,
            [&] {
                return waited([&] {
                    cudaGraphExecUpdateResultInfo result{};
                    cudag::check(cudaGraphExecUpdate(raw.exec, is_other ? raw.graph : raw_other.graph, &result));
                    launch_raw();
                });
            },
            [&] { return waited([&] { cache.launch(*ours_other.graph, stream); }); });
    });
    if (cache.stats().instantiations != 1) throw std::logic_error("graphs of one structure were instantiated twice");
    return {hit, update};
}

bool run(const bench::Options& options) {
    cudag::Stream stream;
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes) {
        const std::vector<Comparison> measured = measure(nodes, stream, options.repeat);
        rows.insert(rows.end(), measured.begin(), measured.end());
    }
    bench::report("launches by a cache of execs, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {10, 100, 1000, 10'000}, .repeat = 50}, run);
}
