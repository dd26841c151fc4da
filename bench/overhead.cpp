// What cudag costs beside the plain Runtime API: a line of kernel nodes, built, instantiated, launched and updated.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <string>
#include <vector>

namespace {

using bench::compare;
using bench::CudagLine;
using bench::RawLine;

std::vector<bench::Comparison> measure(int nodes, int repeat) {
    using bench::microseconds;
    bench::Comparison build{"build", 0.62, {}, {}};
    bench::Comparison build_owning{"build, DeviceBuffer as argument", 0, {}, {}};
    bench::Comparison instantiate{"instantiate", 1.05, {}, {}};
    bench::Comparison both{"build and instantiate", 0.96, {}, {}};
    bench::Comparison launch{"launch", 1.01, {}, {}};
    bench::Comparison update{"update of one node", 0.6, {}, {}};
    bench::Comparison update_argument{"update of one argument", 0.7, {}, {}};
    bench::Comparison update_each{"update of each node, per node", 0.7, {}, {}};

    cudag::Stream stream;
    cudag::DeviceBuffer<float> values(static_cast<std::size_t>(nodes));
    cudag::memset_async(stream, values, 0.0f);
    cudag::launch(stream, {.block = 32}, touch, values, 0, 1.0f, 1U);
    stream.synchronize();
    float* const data = values.data();
    const auto count = static_cast<std::size_t>(nodes);
    const std::size_t middle = count / 2;

    // A line is instantiated right after it was built, and destroyed before the next one, as programs do.
    const auto build_raw = [&] {
        RawLine line;
        build.raw.push_back(microseconds([&] { line.build(nodes, data); }));
        instantiate.raw.push_back(microseconds([&] { line.instantiate(); }));
    };
    const auto build_cudag = [&] {
        CudagLine line;
        build.cudag.push_back(microseconds([&] { line.build(nodes, data); }));
        instantiate.cudag.push_back(microseconds([&] { line.instantiate(); }));
    };
    bench::rounds(repeat, {&build, &build_owning, &instantiate, &both}, [&](int round) {
        if (round % 2 == 0) build_raw();
        build_cudag();
        if (round % 2 != 0) build_raw();
        build_owning.raw.push_back(build.raw.back());
        CudagLine owning;
        build_owning.cudag.push_back(microseconds([&] { owning.build(nodes, values); }));
        both.raw.push_back(build.raw.back() + instantiate.raw.back());
        both.cudag.push_back(build.cudag.back() + instantiate.cudag.back());
    });

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
    return {build, build_owning, instantiate, both, launch, update, update_argument, update_each};
}

bool run(const bench::Options& options) {
    const int nodes = options.nodes.back();
    const std::vector<bench::Comparison> rows = measure(nodes, options.repeat);
    bench::report("a line of " + std::to_string(nodes) + " kernel nodes, " + std::to_string(options.repeat) + " rounds",
                  rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {1000}}, run);
}
