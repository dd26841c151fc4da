// jacobi: one solver with its loop on the host and on the device, compared and measured.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "options.hpp"
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
double measure(Solver& solver, cudag::Stream& stream, int repeat) {
    solver.run(stream);
    std::vector<double> times;
    for (int i = 0; i < repeat; ++i) {
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
    const double host_time = measure(host, stream, options.repeat);
    const double device_time = measure(device, stream, options.repeat);
    const Solution solution = device.solution();
    require_equal(host.solution(), solution, "loop on the host");
    if (options.verify) {
        require_equal(solution, solve_on_host(problem), "loop on the device");
    }

    std::printf("%dx%d values on %s, %u sweeps, the last of which changes no value by more than %g\n", problem.side,
                problem.side, device_name().c_str(), solution.sweeps, static_cast<double>(solution.change));
    std::printf("loop on the host:   %8.2f us per sweep\n", host_time);
    std::printf("loop on the device: %8.2f us per sweep, %.2f times as fast\n", device_time, host_time / device_time);
    if (options.verify) {
        std::printf("verified: both solutions are right, bit by bit\n");
    }
}

} // namespace
} // namespace jacobi

int main(int argc, char** argv) {
    try {
        const jacobi::Options options = jacobi::parse_options({argv + 1, argv + argc});
        if (options.help) {
            std::fputs(jacobi::usage, stdout);
        } else {
            jacobi::run(options);
        }
        return 0;
    } catch (const jacobi::BadInput& error) {
        std::fprintf(stderr, "jacobi: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "jacobi: %s\n", error.what());
        return 1;
    }
}
