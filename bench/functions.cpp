// Calls of a GraphFunction beside what they stand for: bind, set and launch, and plain launches where nothing changes,
// also of two buffers in turns.
#include "kernels.hpp"
#include "options.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>
#include <cudag/graph_function.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using cudag::In, cudag::Out;

constexpr int calls = 16; ///< of a measurement, between two waits

/// Microseconds of a call of `call(number)`, without the device's.
template <class Call>
double time_of_calls(const cudag::Stream& stream, const Call& call) {
    stream.synchronize();
    const double taken = bench::microseconds([&] {
        for (int i = 0; i < calls; ++i)
            call(i);
    });
    stream.synchronize();
    return taken / calls;
}

std::vector<Comparison> measure(const std::string& name, int nodes, int repeat) {
    const cudag::Stream stream;
    const cudag::DeviceBuffer<unsigned> x(1), y(1);
    const auto body = [nodes](auto& b, const auto& from, const auto& to, const auto& salt) {
        for (int i = 0; i < nodes; ++i)
            b.kernel({.block = 32}, combine, from, from, from, to, salt);
    };
    using Function = cudag::GraphFunction<void(In<unsigned>, Out<unsigned>, unsigned)>;
    Function one(body, x, y, 0U), two({.execs = 2}, body, x, y, 0U);

    const cudag::BufferParam<unsigned> from(x), to(y);
    cudag::DynamicParam<unsigned> salt(0U);
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    body(b, from, to, salt);
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate(), there = graph.instantiate(), back = graph.instantiate();
    back.bind({{from, y}, {to, x}});

    std::vector<Comparison> rows{{name + "new arguments, against bind, set and launch", 1.1, {}, {}},
                                 {name + "the same arguments, against a launch", 1.1, {}, {}},
                                 {name + "two buffers in turns, against launches of two Execs", 1.1, {}, {}}};
    std::vector<Comparison*> each;
    for (Comparison& row : rows)
        each.push_back(&row);
    bench::rounds(repeat, each, [&](int round) {
        bench::compare(
            rows[0], round,
            [&] {
                return time_of_calls(stream, [&](int i) {
                    exec.bind({{from, i % 2 == 0 ? y : x}, {to, i % 2 == 0 ? x : y}});
                    salt.set(static_cast<unsigned>(i), exec);
                    exec.launch(stream);
                });
            },
            [&] {
                return time_of_calls(stream, [&](int i) {
                    one(stream, i % 2 == 0 ? y : x, i % 2 == 0 ? x : y, static_cast<unsigned>(i));
                });
            });
        bench::compare(
            rows[1], round, [&] { return time_of_calls(stream, [&](int) { there.launch(stream); }); },
            [&] { return time_of_calls(stream, [&](int) { two(stream, x, y, 0U); }); });
        bench::compare(
            rows[2], round,
            [&] { return time_of_calls(stream, [&](int i) { (i % 2 == 0 ? there : back).launch(stream); }); },
            [&] {
                return time_of_calls(stream, [&](int i) { two(stream, i % 2 == 0 ? x : y, i % 2 == 0 ? y : x, 0U); });
            });
    });
    return rows;
}

bool run(const bench::Options& options) {
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes)
        for (Comparison& row : measure(std::to_string(nodes) + " kernels: ", nodes, options.repeat))
            rows.push_back(std::move(row));
    bench::report("host time of a call, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {5, 50}, .repeat = 100}, run);
}
