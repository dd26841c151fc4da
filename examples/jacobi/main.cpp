// jacobi: one solver with its loop on the host and on the device, compared and measured.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "options.hpp"
#include "program/program.hpp"
#include "program/progress.hpp"
#include "solver.hpp"

namespace jacobi {
namespace {

std::string device_name() {
    int device = 0;
    cudaDeviceProp properties{};
    cudag::check(cudaGetDevice(&device));
    cudag::check(cudaGetDeviceProperties(&properties, device));
    return properties.name;
}

/// The microseconds of a sweep, from the median of `repeat` runs. One run goes before and is not measured.
template <class Solver>
double measure(const char* name, Solver& solver, cudag::Stream& stream, int repeat) {
    const auto runs = static_cast<std::size_t>(repeat) + 1;
    const example::Progress progress(name, runs);
    progress.show(1);
    solver.run(stream);
    std::vector<double> times;
    while (times.size() + 1 < runs) {
        progress.show(times.size() + 2);
        const auto begin = std::chrono::steady_clock::now();
        solver.run(stream);
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / solver.solution().sweeps;
}

void require_equal(const Solution& solution, const Solution& expected, const char* name) {
    if (solution.sweeps != expected.sweeps) {
        throw std::runtime_error(std::string("the ") + name + " ended after " + std::to_string(solution.sweeps) +
                                 " sweeps, not " + std::to_string(expected.sweeps));
    }
    if (solution != expected) {
        throw std::runtime_error(std::string("the solution of the ") + name + " is wrong");
    }
}

void run(const Options& options) {
    const Problem& problem = options.problem;
    cudag::Stream stream;
    HostLoop host(problem);
    DeviceLoop device(problem);
    if (!options.dot.empty()) {
        example::write_text(options.dot, device.graph().dot());
    }
    const double host_time = measure("loop on the host, run", host, stream, options.repeat);
    const double device_time = measure("loop on the device, run", device, stream, options.repeat);
    const Solution solution = device.solution();
    require_equal(host.solution(), solution, "loop on the host");
    if (options.verify) {
        require_equal(solution, solve_on_host(problem), "loop on the device");
    }

    std::printf("%dx%d values on %s, %u sweeps, the last of which changes no value by more than %g\n", problem.side,
                problem.side, device_name().c_str(), solution.sweeps, static_cast<double>(solution.change));
    std::printf("loop on the host:   %8.2f us per sweep\n", host_time);
    std::printf("loop on the device: %8.2f us per sweep, %.2f times as fast\n", device_time, host_time / device_time);
    example::print_runtime_note();
    if (options.verify) {
        std::printf("verified: both solutions are right, bit by bit\n");
    }
}

} // namespace
} // namespace jacobi

int main(int argc, char** argv) {
    return example::run("jacobi", [&] {
        const jacobi::Options options = jacobi::parse_options({argv + 1, argv + argc});
        if (options.help) {
            std::fputs(jacobi::usage, stdout);
        } else {
            jacobi::run(options);
        }
    });
}
