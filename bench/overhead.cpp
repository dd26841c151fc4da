// What cudag costs beside the plain Runtime API: a line of kernel nodes, built, instantiated, launched and updated.
#include "bare_line.hpp"
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::compare;
using bench::CudagLine;
using bench::microseconds;
using bench::RawLine;

/// Kernel nodes, in one line or in several beside each other.
struct Size {
    int nodes;
    int lines;
    bool is_planned = true;

    [[nodiscard]] std::string text() const {
        if (lines == 1) return std::to_string(nodes) + (nodes == 1 ? " kernel" : " kernels");
        return std::to_string(nodes / lines) + " x " + std::to_string(lines) + " kernels" +
               (is_planned ? "" : " as written");
    }
    /// The goal for building and instantiating; 0 for several planned lines: CUDA instantiates the kernels before and
    /// after them, and their edges, in 8 % of the time of all, which two launches repay.
    [[nodiscard]] double goal() const noexcept {
        if (lines > 1 && is_planned) return 0;
        return nodes <= 100 ? 1.0 : nodes <= 1000 ? 0.92 : 0.95;
    }
    [[nodiscard]] cudag::Plan plan() const { return is_planned ? cudag::Plan() : cudag::Plan::as_written(); }
};

/// The making of a graph, from nothing to its executable form.
void measure_making(const Size& size, int repeat, std::vector<bench::Comparison>& rows) {
    const std::string name = size.text() + ": ";
    const bool is_line_of_1000 = size.nodes == 1000 && size.lines == 1;
    bench::Comparison build{name + "build", is_line_of_1000 ? 0.62 : 0, {}, {}};
    bench::Comparison build_owning{name + "build, DeviceBuffer as argument", 0, {}, {}};
    bench::Comparison instantiate{name + "instantiate", is_line_of_1000 ? 1.05 : 0, {}, {}};
    bench::Comparison both{name + "build and instantiate", size.goal(), {}, {}};
    bench::Comparison bare{name + "the same calls of CUDA without cudag", 0, {}, {}};
    cudag::DeviceBuffer<float> values(static_cast<std::size_t>(size.nodes));
    float* const data = values.data();
    const bench::BareCalls calls;

    // A graph is instantiated right after it was built, and destroyed before the next one, as programs do.
    const auto build_raw = [&] {
        RawLine line;
        build.raw.push_back(microseconds([&] { line.build(size.nodes, data, {}, size.lines); }));
        instantiate.raw.push_back(microseconds([&] { line.instantiate(); }));
    };
    const auto build_cudag = [&] {
        CudagLine line;
        build.cudag.push_back(microseconds([&] { line.build(size.nodes, data, {}, size.lines); }));
        instantiate.cudag.push_back(microseconds([&] { line.instantiate(size.plan()); }));
    };
    bench::rounds(repeat, {&build, &build_owning, &instantiate, &both, &bare}, [&](int round) {
        if (round % 2 == 0) build_raw();
        build_cudag();
        if (round % 2 != 0) build_raw();
        build_owning.raw.push_back(build.raw.back());
        CudagLine owning;
        build_owning.cudag.push_back(microseconds([&] { owning.build(size.nodes, values, {}, size.lines); }));
        both.raw.push_back(build.raw.back() + instantiate.raw.back());
        both.cudag.push_back(build.cudag.back() + instantiate.cudag.back());
        bench::BareLine line;
        bare.raw.push_back(both.raw.back());
        const double built = microseconds([&] { line.build(calls, size.nodes, data, size.lines); });
        bare.cudag.push_back(built + microseconds([&] { line.instantiate(calls); }));
    });
    for (bench::Comparison* row : {&build, &build_owning, &instantiate, &both, &bare})
        rows.push_back(std::move(*row));
}

/// The use of a line of `nodes` kernels.
void measure_use(int nodes, int repeat, std::vector<bench::Comparison>& rows) {
    bench::Comparison launch{"launch", 1.01, {}, {}};
    bench::Comparison update{"update of one node", 0.6, {}, {}};
    bench::Comparison update_argument{"update of one argument", 0.7, {}, {}};
    bench::Comparison update_each{"update of each node, per node", 0.7, {}, {}};
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> values(static_cast<std::size_t>(nodes));
    float* const data = values.data();
    const auto count = static_cast<std::size_t>(nodes);
    const std::size_t middle = count / 2;

    RawLine raw;
    raw.build(nodes, data);
    raw.instantiate();
    CudagLine ours;
    ours.build(nodes, data);
    ours.instantiate();
    constexpr int updates = 1000;
    const auto per_update = [&](auto&& one) {
        return microseconds([&] {
                   for (int i = 0; i < updates; ++i)
                       one(i);
               }) /
               updates;
    };
    const bench::Touch node = ours.nodes[middle];
    const int index = static_cast<int>(middle);
    bench::rounds(repeat, {&launch, &update, &update_argument, &update_each}, [&](int round) {
        compare(
            launch, round,
            [&] {
                const double taken = microseconds([&] { cudag::check(cudaGraphLaunch(raw.exec, stream.get())); });
                stream.synchronize();
                return taken;
            },
            [&] {
                const double taken = microseconds([&] { ours.exec->launch(stream); });
                stream.synchronize();
                return taken;
            });
        compare(
            update, round, [&] { return per_update([&](int i) { raw.update(middle, data, static_cast<float>(i)); }); },
            [&] {
                return per_update([&](int i) { ours.exec->update(node, data, index, static_cast<float>(i), 1U); });
            });
        update_argument.raw.push_back(update.raw.back());
        update_argument.cudag.push_back(
            per_update([&](int i) { ours.exec->update(node, cudag::arg<2>(static_cast<float>(i))); }));
        compare(
            update_each, round,
            [&] {
                return microseconds([&] {
                           for (std::size_t i = 0; i < count; ++i)
                               raw.update(i, data, 2.0f);
                       }) /
                       static_cast<double>(count);
            },
            [&] {
                return microseconds([&] {
                           for (std::size_t i = 0; i < count; ++i)
                               ours.exec->update(ours.nodes[i], data, static_cast<int>(i), 2.0f, 1U);
                       }) /
                       static_cast<double>(count);
            });
    });
    for (bench::Comparison* row : {&launch, &update, &update_argument, &update_each})
        rows.push_back(std::move(*row));
}

bool run(const bench::Options& options) {
    {
        const cudag::Stream stream;
        const cudag::DeviceBuffer<float> values(1);
        cudag::launch(stream, {.block = 32}, touch, values, 0, 1.0f, 1U); // the first use of a kernel loads it
    }
    std::vector<bench::Comparison> rows;
    for (const int nodes : options.nodes) {
        measure_making({nodes, 1}, nodes >= 10'000 ? std::min(options.repeat, 25) : options.repeat, rows);
        if (nodes != 1000) continue;
        measure_making({nodes, 100}, options.repeat, rows);
        measure_making({nodes, 100, false}, options.repeat, rows);
    }
    measure_use(options.nodes.back(), options.repeat, rows);
    bench::report("lines of kernel nodes, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {1, 10, 100, 10'000, 1000}}, run);
}
