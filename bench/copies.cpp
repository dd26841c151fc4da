// Large copies on the device: in a stream, as one memcpy node, and in pieces, added and captured.
#include "launch_timer.hpp"
#include "options.hpp"
#include "raw_graph.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;

constexpr std::size_t mib = std::size_t{1} << 20U;

/// Rows of one size: the GPU time of graphs against that of a copy in the stream.
std::vector<Comparison> measure(const std::string& name, std::size_t bytes, int repeat) {
    std::vector<Comparison> rows{{name + ": one node, Runtime API", 0, {}, {}},
                                 {name + ": one node", 0, {}, {}},
                                 {name + ": in pieces", 1.02, {}, {}},
                                 {name + ": captured in pieces", 1.02, {}, {}}};
    const cudag::DeviceBuffer<char> from(bytes), to(bytes);
    bench::LaunchTimer timer;
    const cudaStream_t stream = timer.stream().get();
    cudag::memset_async(stream, from, char{1});

    bench::RawGraph raw;
    cudag::check(cudaGraphCreate(&raw.graph, 0));
    cudaGraphNode_t node = nullptr;
    cudag::check(cudaGraphAddMemcpyNode1D(&node, raw.graph, nullptr, 0, to.data(), from.data(), bytes,
                                          cudaMemcpyDeviceToDevice));
    raw.instantiate();
    cudag::GraphBuilder one, pieces;
    one.memcpy(to, from);
    pieces.memcpy_in_pieces(to, from);
    cudag::Exec execs[] = {std::move(one).build().instantiate(), std::move(pieces).build().instantiate(),
                           cudag::capture(timer.stream(), [&](cudaStream_t s) {
                               cudag::memcpy_async_in_pieces(s, to, from);
                           }).instantiate()};

    std::vector<Comparison*> each;
    for (Comparison& row : rows)
        each.push_back(&row);
    const auto in_stream = [&] {
        return timer([&] {
                   cudag::check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
               })
            .gpu;
    };
    bench::rounds(repeat, each, [&](int round) {
        bench::compare(rows[0], round, in_stream,
                       [&] { return timer([&] { cudag::check(cudaGraphLaunch(raw.exec, stream)); }).gpu; });
        for (std::size_t i = 0; i < std::size(execs); ++i)
            bench::compare(rows[i + 1], round, in_stream, [&] { return timer([&] { execs[i].launch(stream); }).gpu; });
    });
    return rows;
}

bool run(const bench::Options& options) {
    const auto scaled = [&](std::size_t size) { return size * mib / 100 * static_cast<std::size_t>(*options.percent); };
    std::vector<Comparison> rows;
    const auto add = [&](const std::string& name, std::size_t bytes) {
        if (name.find(*options.only) == std::string::npos) return;
        std::vector<Comparison> more = measure(name, bytes, options.repeat);
        std::move(more.begin(), more.end(), std::back_inserter(rows));
    };
    for (const std::size_t size : {64U, 256U, 508U, 512U, 516U, 640U, 1024U, 2048U})
        add(std::to_string(size) + " MiB", *options.percent == 100 ? size * mib : scaled(size));
    add("300 MiB + 1 B", scaled(300) + 1);
    bench::report("copies on the device: GPU time against cudaMemcpyAsync, " + std::to_string(options.repeat) +
                      " rounds",
                  rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.repeat = 51, .only = "", .percent = 100}, run);
}
