// What it costs to launch graphs by an ExecCache, beside the plain Runtime API that keeps one executable graph: a graph
// that was launched before, and graphs of one structure with other arguments.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Amounts;
using bench::Comparison;
using bench::microseconds;

/// Another graph of the same structure, both ways, and what it costs to launch it instead.
struct Other {
    Comparison row;
    Amounts amounts;
    bench::RawLine raw = {};
    bench::CudagLine ours = {};
    cudag::ExecCache cache = cudag::ExecCache(); ///< that launches nothing else but the first graph
};

std::vector<Comparison> measure(int nodes, cudag::Stream& stream, int repeat) {
    const std::string name = std::to_string(nodes) + " nodes: ";
    Comparison hit{name + "a hit, against a launch", 1.05, {}, {}};
    // By what the other graph differs. The raw side is whole update and launch.
    const int middle = nodes / 2;
    std::vector<Other> others(3);
    others[0].row = {name + "an update in which nothing differs", 1.05, {}, {}};
    others[1].row = {name + "in which one node differs", 1.05, {}, {}};
    others[1].amounts = {2.0f, middle, middle};
    others[2].row = {name + "in which all differ", 1.05, {}, {}};
    others[2].amounts = {2.0f, 0, nodes - 1};

    cudag::DeviceBuffer<float> values(static_cast<std::size_t>(nodes));
    float* const data = values.data();
    cudag::launch(stream, {.block = 32}, touch, values, 0, 1.0f, 1U); // the first use of a kernel loads it
    bench::RawLine raw;
    bench::CudagLine ours;
    raw.build(nodes, data);
    raw.instantiate();
    ours.build(nodes, data);
    std::vector<Comparison*> rows{&hit};
    for (Other& other : others) {
        other.raw.build(nodes, data, other.amounts);
        other.ours.build(nodes, data, other.amounts);
        rows.push_back(&other.row);
    }
    const auto launch_raw = [&] { cudag::check(cudaGraphLaunch(raw.exec, stream.get())); };
    const auto update_raw = [&](cudaGraph_t graph) {
        cudaGraphExecUpdateResultInfo result{};
        cudag::check(cudaGraphExecUpdate(raw.exec, graph, &result));
    };
    const auto waited = [&](auto&& work) {
        const double taken = microseconds(work);
        stream.synchronize();
        return taken;
    };

    bench::rounds(repeat, rows, [&](int round) {
        for (Other& other : others) {
            update_raw(raw.graph);
            launch_raw();
            other.cache.launch(*ours.graph, stream);
            stream.synchronize();
            if (&other == &others.front())
                bench::compare(
                    hit, round, [&] { return waited(launch_raw); },
                    [&] { return waited([&] { other.cache.launch(*ours.graph, stream); }); });
            bench::compare(
                other.row, round,
                [&] {
                    return waited([&] {
                        update_raw(other.raw.graph);
                        launch_raw();
                    });
                },
                [&] { return waited([&] { other.cache.launch(*other.ours.graph, stream); }); });
        }
    });
    for (const Other& other : others)
        if (other.cache.stats().instantiations != 1)
            throw std::logic_error("graphs of one structure were instantiated twice");
    std::vector<Comparison> result;
    for (Comparison* row : rows)
        result.push_back(std::move(*row));
    return result;
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
