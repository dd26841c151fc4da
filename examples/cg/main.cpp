// cg: conjugate gradients with the loop on the host and on the device, compared and measured.
#include "program/arguments.hpp"
#include "program/program.hpp"
#include "solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg {
namespace {

using example::BadInput;

const char* const usage =
    R"(usage: cg [option]...

Solves A x = b by conjugate gradients, where A is the five-point stencil of a square: once with a loop on the host, which
waits in each iteration to decide on the next, and once with a loop on the device: a graph with a while node. Says how
long an iteration takes in each.

  --side N            values in a row of the square (64)
  --tolerance T       stop at T times the first residual (1e-8)
  --max-iterations N  stop after N iterations in any case (10000)
  --repeat N          solve N times each way and take the median time (5)
  --verify            compare both solutions with the known one, and check the residual in plain C++
  --dot FILE          write the graph to FILE, for Graphviz: dot -Tsvg FILE
  --help              print this

The exit code is 2 if the arguments are no good, 1 if a solution was wrong or CUDA reported an error.
)";

struct Options {
    Problem problem;
    int repeat = 5;
    bool verify = false;
    bool help = false;
    std::string dot;
};

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--side")) {
            options.problem.side = arguments.number(1, 4096);
        } else if (arguments.is("--tolerance")) {
            options.problem.tolerance = arguments.fraction<double>();
        } else if (arguments.is("--max-iterations")) {
            options.problem.most = static_cast<unsigned>(arguments.number(1, 10'000'000));
        } else if (arguments.is("--repeat")) {
            options.repeat = arguments.number(1, 1000);
        } else if (arguments.is("--verify")) {
            options.verify = true;
        } else if (arguments.is("--dot")) {
            options.dot = arguments.value();
        } else if (arguments.is("--help")) {
            options.help = true;
        } else {
            arguments.refuse();
        }
    }
    return options;
}

/// The microseconds of an iteration, from the median of `repeat` runs. One run goes before and is not measured.
template <class Solver>
double measured(Solver& solver, cudag::Stream& stream, int repeat) {
    solver.run(stream);
    std::vector<double> times;
    for (int i = 0; i < repeat; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        solver.run(stream);
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / solver.solution().iterations;
}

void verify(const Problem& problem, const Solution& solution, const char* name) {
    const double residual = relative_residual(problem, solution.x);
    const std::vector<double> known = known_solution(problem);
    double error = 0;
    for (std::size_t i = 0; i < known.size(); ++i)
        error = std::max(error, std::abs(solution.x[i] - known[i]));
    // The error may exceed the residual by the condition of A, which grows with the square of the side.
    const double allowed = 10 * problem.tolerance * problem.side * problem.side + 1e-9;
    if (residual > 2 * problem.tolerance + 1e-12 || error > allowed)
        throw std::runtime_error(std::string("the ") + name + " is wrong: its residual is " + std::to_string(residual) +
                                 ", its largest error " + std::to_string(error));
}

void run(const Options& options) {
    const Problem& problem = options.problem;
    cudag::Stream stream;
    HostLoop host(problem);
    DeviceLoop device(problem);
    if (!options.dot.empty()) example::write_text(options.dot, device.graph().dot());
    const double host_time = measured(host, stream, options.repeat);
    const double device_time = measured(device, stream, options.repeat);
    const Solution solution = device.solution();
    if (solution.iterations != host.solution().iterations)
        throw std::runtime_error("the loops took " + std::to_string(host.solution().iterations) + " and " +
                                 std::to_string(solution.iterations) + " iterations");
    std::printf("%dx%d unknowns, %u iterations, relative residual %.2g\n", problem.side, problem.side,
                solution.iterations, relative_residual(problem, solution.x));
    std::printf("loop on the host:   %8.2f us per iteration\n", host_time);
    std::printf("loop on the device: %8.2f us per iteration, %.2f times as fast\n", device_time,
                host_time / device_time);
    example::print_runtime_note();
    if (options.verify) {
        verify(problem, host.solution(), "loop on the host");
        verify(problem, solution, "loop on the device");
        std::printf("verified: both solutions are right\n");
    }
}

} // namespace
} // namespace cg

int main(int argc, char** argv) {
    return example::run("cg", [&] {
        const cg::Options options = cg::parse_options({argv + 1, argv + argc});
        if (options.help)
            std::fputs(cg::usage, stdout);
        else
            cg::run(options);
    });
}
