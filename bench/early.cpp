// What early launch gains: lines and decoders of small kernels that wait for previous ones by themselves, through
// cudag, beside the Runtime API with full edges, and with programmatic edges set by hand.
#include "kernels.hpp"
#include "launch_timer.hpp"
#include "options.hpp"
#include "raw_graph.hpp"
#include "report.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;

constexpr std::uint32_t nothing_before = ~0U;

/// A kernel: it combines what up to three others wrote.
using Step = std::array<std::uint32_t, 3>;
using Steps = std::vector<Step>;

Steps line(std::size_t kernels) {
    Steps steps;
    for (std::uint32_t i = 0; i < kernels; ++i)
        steps.push_back({i == 0 ? nothing_before : i - 1, nothing_before, nothing_before});
    return steps;
}

/// Layers of a language model: queries, keys and values; attention; its output; two projections; their sum.
Steps decoder(std::size_t kernels) {
    Steps steps{{nothing_before, nothing_before, nothing_before}};
    const auto add = [&](std::uint32_t a, std::uint32_t b = nothing_before, std::uint32_t c = nothing_before) {
        steps.push_back({a, b, c});
        return static_cast<std::uint32_t>(steps.size() - 1);
    };
    std::uint32_t last = 0;
    while (steps.size() < kernels) {
        const std::uint32_t q = add(last), k = add(last), v = add(last);
        const std::uint32_t output = add(add(q, k, v));
        const std::uint32_t gate = add(output), up = add(output);
        last = add(gate, up);
    }
    return steps;
}

cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                             const cudaGraphEdgeData* data, std::size_t count) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddDependencies(graph, from, to, data, count);
#else
    return cudaGraphAddDependencies_v2(graph, from, to, data, count);
#endif
}

/// The memory of the steps, a cell for each.
class Cells {
  public:
    explicit Cells(const Steps& steps) : steps_(steps), cells_(steps.size()) {}

    [[nodiscard]] const unsigned* in(std::uint32_t step) const {
        return step == nothing_before ? nullptr : cells_.data() + step;
    }
    [[nodiscard]] unsigned* out(std::uint32_t step) const { return cells_.data() + step; }

    void clear() const {
        cudag::check(cudaMemset(cells_.data(), 0, cells_.size_bytes()));
        cudag::check(cudaDeviceSynchronize());
    }
    /// Throws unless the cells have the results of the steps in order.
    void verify(const std::string& who) const {
        std::vector<unsigned> found(steps_.size()), expected(steps_.size());
        cudag::check(cudaMemcpy(found.data(), cells_.data(), cells_.size_bytes(), cudaMemcpyDeviceToHost));
        for (std::uint32_t i = 0; i < steps_.size(); ++i) {
            const auto value = [&](std::uint32_t step) { return step == nothing_before ? 0U : expected[step]; };
            expected[i] = combined(value(steps_[i][0]), value(steps_[i][1]), value(steps_[i][2]), i);
        }
        if (found != expected) throw std::logic_error("the results of " + who + " are wrong");
    }

  private:
    const Steps& steps_;
    cudag::DeviceBuffer<unsigned> cells_;
};

/// The steps through the Runtime API, with full edges, or with all edges programmatic.
struct RawSteps : bench::RawGraph {
    RawSteps(const Steps& steps, const Cells& cells, bool early) {
        cudag::check(cudaGraphCreate(&graph, 0));
        std::vector<cudaGraphNode_t> nodes(steps.size()), from, to;
        for (std::uint32_t i = 0; i < steps.size(); ++i) {
            const unsigned *a = cells.in(steps[i][0]), *b = cells.in(steps[i][1]), *c = cells.in(steps[i][2]);
            unsigned* out = cells.out(i);
            unsigned salt = i;
            void* arguments[] = {&a, &b, &c, &out, &salt};
            cudaKernelNodeParams params{};
            params.func = reinterpret_cast<void*>(wait_and_combine);
            params.gridDim = {1, 1, 1};
            params.blockDim = {32, 1, 1};
            params.kernelParams = arguments;
            cudag::check(cudaGraphAddKernelNode(&nodes[i], graph, nullptr, 0, &params));
            for (const std::uint32_t before : steps[i])
                if (before != nothing_before) from.push_back(nodes[before]), to.push_back(nodes[i]);
        }
        cudaGraphEdgeData data{};
        if (early) {
            data.from_port = cudaGraphKernelNodePortProgrammatic;
            data.type = cudaGraphDependencyTypeProgrammatic;
        }
        const std::vector<cudaGraphEdgeData> all(from.size(), data);
        cudag::check(add_dependencies(graph, from.data(), to.data(), all.data(), from.size()));
        instantiate();
    }
};

cudag::Graph built(const Steps& steps, const Cells& cells) {
    cudag::GraphBuilder b;
    using Combine = cudag::KernelNode<const unsigned*, const unsigned*, const unsigned*, unsigned*, unsigned>;
    std::vector<Combine> nodes;
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
        nodes.push_back(b.kernel({.block = 32, .waits_for_previous = true}, wait_and_combine, cells.in(steps[i][0]),
                                 cells.in(steps[i][1]), cells.in(steps[i][2]), cells.out(i), i));
        for (const std::uint32_t before : steps[i])
            if (before != nothing_before) nodes.back().after(nodes[before]);
    }
    return std::move(b).build();
}

/// All steps in one stream.
cudag::Graph captured(const Steps& steps, const Cells& cells) {
    const cudag::Stream stream;
    return cudag::capture(stream, [&](cudaStream_t s) {
        for (std::uint32_t i = 0; i < steps.size(); ++i)
            cudag::launch(s, {.block = 32, .waits_for_previous = true}, wait_and_combine, cells.in(steps[i][0]),
                          cells.in(steps[i][1]), cells.in(steps[i][2]), cells.out(i), i);
    });
}

constexpr double goal = 1 / 1.2; ///< of full edges
constexpr double same = 1.05;    ///< of programmatic edges by hand

void measure(const std::string& name, const Steps& steps, int repeat, std::vector<Comparison>& rows) {
    const Cells cells(steps);
    const RawSteps full(steps, cells, false), early(steps, cells, true);
    const cudag::Graph graph = built(steps, cells), recorded = captured(steps, cells);
    cudag::Exec exec = graph.instantiate(), off = graph.instantiate({.plan = {.early = false}});
    cudag::Exec of_capture = recorded.instantiate();
    bench::LaunchTimer timer;
    constexpr int launches = 10;
    const auto gpu_time = [&](const auto& launch) {
        return timer([&] {
                   for (int i = 0; i < launches; ++i)
                       launch();
               }).gpu /
               launches;
    };
    const auto raw = [&](const RawSteps& of) {
        return gpu_time([&] { cudag::check(cudaGraphLaunch(of.exec, timer.stream().get())); });
    };
    const auto by_cudag = [&](cudag::Exec& of) { return gpu_time([&] { of.launch(timer.stream()); }); };
    for (cudag::Exec* each : {&exec, &off, &of_capture}) {
        cells.clear();
        each->launch(timer.stream());
        timer.stream().synchronize();
        cells.verify(name);
    }
    Comparison by_full{name + ", full edges by hand / cudag", goal, {}, {}};
    Comparison by_early{name + ", programmatic edges by hand / cudag", same, {}, {}};
    Comparison by_off{name + ", full edges by hand / cudag, early off", same, {}, {}};
    Comparison by_capture{name + ", captured in a stream, full edges in a line by hand / cudag", goal, {}, {}};
    const Steps in_line = line(steps.size());
    const Cells line_cells(in_line);
    const RawSteps full_line(in_line, line_cells, false);
    bench::rounds(repeat, {&by_full, &by_early, &by_off, &by_capture}, [&](int round) {
        compare(
            by_full, round, [&] { return raw(full); }, [&] { return by_cudag(exec); });
        compare(
            by_early, round, [&] { return raw(early); }, [&] { return by_cudag(exec); });
        compare(
            by_off, round, [&] { return raw(full); }, [&] { return by_cudag(off); });
        compare(
            by_capture, round, [&] { return raw(full_line); }, [&] { return by_cudag(of_capture); });
    });
    cells.verify(name);
    for (Comparison* row : {&by_full, &by_early, &by_off, &by_capture})
        rows.push_back(std::move(*row));
}

bool run(const bench::Options& options) {
    std::vector<Comparison> rows;
    for (const int count : options.nodes) {
        const auto kernels = static_cast<std::size_t>(count);
        measure("line of " + std::to_string(kernels), line(kernels), options.repeat, rows);
        const Steps layers = decoder(kernels);
        measure("decoder of " + std::to_string(layers.size()), layers, options.repeat, rows);
    }
    bench::report("GPU time of a launch, microseconds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {200}, .repeat = 30}, run);
}
