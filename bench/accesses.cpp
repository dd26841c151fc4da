// What it costs to look for races and to infer edges, against cudaGraphInstantiate of the same graph: a stencil, whose
// kernels read three parts of one buffer and write one of another. And what a captured line gains by being relaxed.
#include "kernels.hpp"
#include "launch_timer.hpp"
#include "options.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using bench::microseconds;

constexpr int width = 50;        ///< parts of a row
constexpr std::size_t part = 64; ///< elements

class Stencil {
  public:
    explicit Stencil(int nodes)
        : rows_(nodes / width),
          cells_{cudag::DeviceBuffer<unsigned>(width * part), cudag::DeviceBuffer<unsigned>(width * part)} {}

    /// With the edges that it needs, if asked for.
    [[nodiscard]] cudag::GraphBuilder write(const cudag::BuilderOptions& options, bool with_edges) const {
        cudag::GraphBuilder b(options);
        std::vector<cudag::Node> before, now;
        for (int row = 0; row < rows_; ++row) {
            now.clear();
            for (int i = 0; i < width; ++i) {
                const auto node = b.kernel({}, combine, at(row, i - 1), at(row, i), at(row, i + 1), at(row + 1, i), 1U);
                if (row > 0 && with_edges)
                    node.after(std::vector<cudag::Node>(before.begin() + std::max(i - 1, 0),
                                                        before.begin() + std::min(i + 2, width)));
                now.push_back(node);
            }
            before.swap(now);
        }
        return b;
    }

  private:
    [[nodiscard]] cudag::DeviceSpan<unsigned> at(int row, int i) const {
        const auto place = static_cast<std::size_t>(std::clamp(i, 0, width - 1));
        return cells_[static_cast<std::size_t>(row % 2)].span().subspan(place * part, part);
    }

    int rows_;
    cudag::DeviceBuffer<unsigned> cells_[2];
};

/// The time of build() alone.
double build_time(const Stencil& stencil, const cudag::BuilderOptions& options, bool with_edges) {
    cudag::GraphBuilder b = stencil.write(options, with_edges);
    std::optional<cudag::Graph> graph;
    return microseconds([&] { graph.emplace(std::move(b).build()); });
}

double instantiate_time(const Stencil& stencil) {
    cudag::GraphBuilder b = stencil.write({.races = cudag::Races::allowed}, true);
    const cudag::Graph graph = std::move(b).build();
    const cudaGraph_t native = graph.native();
    cudaGraphExec_t exec = nullptr;
    const double taken = microseconds([&] { cudag::check(cudaGraphInstantiate(&exec, native, 0)); });
    cudag::check(cudaGraphExecDestroy(exec));
    return taken;
}

std::vector<Comparison> measure(int nodes, int repeat) {
    const std::string size = std::to_string(nodes) + " nodes: ";
    Comparison check{size + "the race check", 0.1, {}, {}};
    Comparison infer{size + "the race check and inferring edges", 0.1, {}, {}};
    const Stencil stencil(nodes);
    bench::rounds(repeat, {&check, &infer}, [&](int) {
        const double instantiate = instantiate_time(stencil);
        const double bare = build_time(stencil, {.races = cudag::Races::allowed}, true);
        check.raw.push_back(instantiate);
        check.cudag.push_back(std::max(build_time(stencil, {}, true) - bare, 0.0));
        infer.raw.push_back(instantiate);
        infer.cudag.push_back(
            std::max(build_time(stencil, {.dependencies = cudag::Dependencies::inferred}, false) - bare, 0.0));
    });
    return {check, infer};
}

/// Four branches of short kernels, enqueued in turns into one stream, between a fill and a copy of all.
cudag::Graph captured_branches(int kernels, const cudag::DeviceBuffer<unsigned>& cells,
                               const cudag::DeviceBuffer<unsigned>& result) {
    const cudag::Stream stream;
    return cudag::capture(stream, [&](cudaStream_t s) {
        cudag::memset_async(s, cells, 1U);
        for (int i = 0; i < kernels; ++i)
            for (std::size_t branch = 0; branch < cells.size(); ++branch) {
                const auto cell = cells.span().subspan(branch, 1);
                cudag::launch(s, {}, combine, cell, nullptr, nullptr, cell, static_cast<unsigned>(i));
            }
        cudag::memcpy_async(s, result, cells);
    });
}

Comparison measure_relaxed(int kernels, int repeat) {
    const cudag::DeviceBuffer<unsigned> cells(4), result(4);
    const cudag::Graph captured = captured_branches(kernels, cells, result);
    cudag::Graph relaxed = captured_branches(kernels, cells, result);
    cudag::relax(relaxed);
    cudag::Exec as_captured = captured.instantiate(), as_relaxed = relaxed.instantiate();
    Comparison row{"4 x " + std::to_string(kernels) + " kernels: captured, relaxed (GPU)", 0.5, {}, {}};
    bench::LaunchTimer timer;
    const auto gpu_time = [&](cudag::Exec& exec) { return timer([&] { exec.launch(timer.stream()); }).gpu; };
    bench::rounds(repeat, {&row}, [&](int round) {
        bench::compare(
            row, round, [&] { return gpu_time(as_captured); }, [&] { return gpu_time(as_relaxed); });
    });
    return row;
}

bool run(const bench::Options& options) {
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes)
        for (Comparison& row : measure(nodes, options.repeat))
            rows.push_back(std::move(row));
    rows.push_back(measure_relaxed(32, options.repeat));
    bench::report("races and inferred edges, against instantiation, " + std::to_string(options.repeat) + " rounds",
                  rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {1000, 10000}, .repeat = 20}, run);
}
