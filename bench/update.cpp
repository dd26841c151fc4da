// What it costs to give K of N kernel nodes of an executable graph new arguments: Exec::apply beside the plain Runtime
// API, which updates the whole graph, captures it anew first, or updates the K nodes one by one.
// Exec::apply starts from a Graph that Graph::update has changed. That is not in its time, as changing the graph is not
// in that of the whole-graph update: it is a row of its own, beside cudaGraphKernelNodeSetParams.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::Comparison;
using bench::microseconds;

cudaGraph_t capture(cudaStream_t stream, float* values, const std::vector<float>& amounts) {
    cudag::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (std::size_t i = 0; i < amounts.size(); ++i)
        bench::RawLine::launch(stream, static_cast<int>(i), values, amounts[i]);
    cudaGraph_t graph = nullptr;
    cudag::check(cudaStreamEndCapture(stream, &graph));
    return graph;
}

void update_whole(cudaGraphExec_t exec, cudaGraph_t graph) {
    cudaGraphExecUpdateResultInfo result{};
    cudag::check(cudaGraphExecUpdate(exec, graph, &result));
}

/// Both lines, instantiated, and what the raw one was last given.
struct Lines {
    Lines(int nodes, cudag::Stream& stream) : values(static_cast<std::size_t>(nodes)), amounts(values.size(), 1.0f) {
        cudag::memset_async(stream, values, 0.0f);
        cudag::launch(stream, {.block = 32}, touch, values, 0, 1.0f, 1U); // the first use of a kernel loads it
        stream.synchronize();
        float* const data = values.data();
        raw.build(nodes, data);
        raw.instantiate();
        ours.build(nodes, data);
        ours.instantiate();
    }

    cudag::DeviceBuffer<float> values;
    std::vector<float> amounts;
    bench::RawLine raw;
    bench::CudagLine ours;
};

/// `count` of `nodes`, evenly spread.
std::vector<std::size_t> spread(std::size_t count, std::size_t nodes) {
    std::vector<std::size_t> places(count);
    for (std::size_t i = 0; i < count; ++i)
        places[i] = (2 * i + 1) * nodes / (2 * count);
    return places;
}

std::vector<Comparison> measure(Lines& lines, cudag::Stream& stream, std::size_t changed, int repeat) {
    const std::size_t nodes = lines.amounts.size();
    const std::string name = std::to_string(changed) + " of " + std::to_string(nodes) + ": ";
    Comparison whole{name + "apply, against whole update", changed == 1 && nodes >= 10'000 ? 0.002 : 0, {}, {}};
    Comparison again{name + "apply, against capture and update", 0, {}, {}};
    Comparison report{name + "Exec::update(graph), against whole update", 0, {}, {}};
    Comparison each{name + "apply, against update per node", 1.1, {}, {}};
    Comparison graph{name + "Graph::update of these", 0, {}, {}};

    float* const data = lines.values.data();
    const std::vector<std::size_t> places = spread(changed, nodes);
    float amount = 1.0f;
    const auto change_raw = [&] {
        amount += 1.0f;
        return microseconds([&] {
            for (const std::size_t place : places)
                lines.raw.update_graph(place, data, amount);
        });
    };
    const auto change_ours = [&] {
        amount += 1.0f;
        return microseconds([&] {
            for (const std::size_t place : places)
                lines.ours.graph->update(lines.ours.nodes[place], data, static_cast<int>(place), amount, 1U);
        });
    };

    // Short times are means over several turns, in each of which the graph is changed first.
    const std::size_t turns = std::max<std::size_t>(1, 100 / changed);
    const auto per_turn = [&](std::vector<double>& graph_times, auto&& change, auto&& push) {
        double changing = 0, pushing = 0;
        for (std::size_t i = 0; i < turns; ++i) {
            changing += change();
            pushing += microseconds(push);
        }
        graph_times.push_back(changing / static_cast<double>(turns));
        return pushing / static_cast<double>(turns);
    };
    const auto apply = [&] {
        if (lines.ours.exec->apply(*lines.ours.graph) != changed) throw std::logic_error("apply pushed other nodes");
    };
    const auto update_each = [&] {
        for (const std::size_t place : places)
            lines.raw.update(place, data, amount);
    };

    // Apart from the updates of whole graphs, which bring all of the plain exec into the caches, and none of cudag's.
    bench::rounds(repeat, {&each, &graph}, [&](int round) {
        bench::compare(
            each, round, [&] { return per_turn(graph.raw, change_raw, update_each); },
            [&] { return per_turn(graph.cudag, change_ours, apply); });
    });
    bench::rounds(repeat, {&whole, &report}, [&](int round) {
        bench::compare(
            report, round,
            [&] {
                change_raw();
                return microseconds([&] { update_whole(lines.raw.exec, lines.raw.graph); });
            },
            [&] {
                change_ours();
                return microseconds([&] {
                    if (!lines.ours.exec->update(*lines.ours.graph).updated()) throw std::logic_error("not updated");
                });
            });
        whole.raw.push_back(report.raw.back());
    });

    bench::rounds(repeat, {&again}, [&](int) {
        for (const std::size_t place : places)
            lines.amounts[place] += 1.0f;
        again.raw.push_back(microseconds([&] {
            cudaGraph_t captured = capture(stream.get(), data, lines.amounts);
            update_whole(lines.raw.exec, captured);
            cudag::check(cudaGraphDestroy(captured));
        }));
    });
    whole.cudag = again.cudag = each.cudag;
    return {whole, again, each, graph, report};
}

bool run(const bench::Options& options) {
    cudag::Stream stream;
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes) {
        Lines lines(nodes, stream);
        for (const int changed : {1, 10, 100}) {
            if (changed > nodes) continue;
            std::vector<Comparison> measured =
                measure(lines, stream, static_cast<std::size_t>(changed), options.repeat);
            std::move(measured.begin(), measured.end(), std::back_inserter(rows));
        }
    }
    bench::report("K of N kernel nodes changed, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {1000, 10'000}, .repeat = 50}, run);
}
