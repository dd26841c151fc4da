// How fast nvcc's kernels run on the CPU runtime: against the same loops in C++ on one core, what a barrier takes, and
// what all cores gain.
#include "cpu_kernels.hpp"
#include "options.hpp"
#include "processor_time.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>
#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using bench::Comparison;
using bench::processor_time;

constexpr int block = 256;

/// A launch, of which the stream is waited for.
template <class... P, class... A>
void run(const cudag::LaunchConfig& config, void (*kernel)(P...), A... arguments) {
    static const cudag::Stream stream;
    cudag::launch(stream, config, kernel, arguments...);
    stream.synchronize();
}

template <class T>
void require_equal(const T* loops, const T* kernels, int count) {
    // A fused multiplication rounds once.
    const auto near = [](T a, T b) { return std::abs(a - b) <= static_cast<T>(1e-3) * std::abs(a); };
    if (!std::equal(loops, loops + count, kernels, near)) throw std::runtime_error("the results are not the same");
}

/// Both on one core; processor time.
class Loops {
  public:
    Comparison add_scaled{"a million of y = a x + y", 3, {}, {}};
    Comparison multiply{"a product of 256 by 256", 3, {}, {}};
    Comparison escape{"512 by 512 points of a fractal", 3, {}, {}};

    void measure(int round) {
        cudart_cpu::set_workers(1);
        compare(
            add_scaled, round, [&] { add_scaled_in_loops(n, 2, x_.data(), y_.data()); },
            [&] { run(cudag::grid_1d(n, block), ::add_scaled, n, 2.0f, x_.data(), z_.data()); });
        compare(
            multiply, round, [&] { multiply_in_loops(side, x_.data(), x_.data(), y_.data()); },
            [&] {
                run({{1, side}, side}, ::multiply, side, x_.data(), x_.data(), z_.data());
            });
        require_equal(y_.data(), z_.data(), side * side);
        compare(
            escape, round, [&] { escape_in_loops(points, limit, i_.data()); },
            [&] {
                run({{points / block, points}, block}, ::escape, points, limit, j_.data());
            });
    }

  private:
    static constexpr int n = 1'000'000;
    static constexpr unsigned side = 256;
    static constexpr unsigned points = 512;
    static constexpr int limit = 100;

    template <class Loop, class Kernel>
    static void compare(Comparison& row, int round, Loop&& loop, Kernel&& kernel) {
        bench::compare(
            row, round, [&] { return processor_time(loop); }, [&] { return processor_time(kernel); });
    }

    static cudag::PinnedBuffer<float> ones() {
        cudag::PinnedBuffer<float> result(n);
        std::fill_n(result.data(), n, 1.0f);
        return result;
    }

    cudag::PinnedBuffer<float> x_ = ones(), y_ = ones(), z_ = ones();
    cudag::PinnedBuffer<int> i_{points * points}, j_{points * points};
};

/// The ratio counts nanoseconds of the processor.
class Barriers {
  public:
    Comparison row{"a barrier of 256 threads, in ns of each", 50, {}, {}};

    void measure() {
        cudart_cpu::set_workers(1);
        const double without = processor_time([&] { run({blocks, block}, meet, 0, out_.data()); });
        const double with = processor_time([&] { run({blocks, block}, meet, count, out_.data()); });
        row.raw.push_back(1e-3 * blocks * block * count);
        row.cudag.push_back(with - without);
    }

  private:
    static constexpr int count = 200;
    static constexpr unsigned blocks = 8;

    cudag::PinnedBuffer<int> out_{blocks};
};

/// Against one core's time, divided by the number of cores: what others leave of these.
class Cores {
  public:
    Comparison row{"all " + std::to_string(cores) + " cores, of their share of one's time", 1.5, {}, {}};

    void measure(int round) {
        bench::compare(
            row, round, [&] { return time_with(1) / cores; }, [&] { return time_with(cores); });
    }

  private:
    static constexpr unsigned side = 384;

    double time_with(unsigned workers) {
        cudart_cpu::set_workers(workers);
        return bench::microseconds([&] {
            run({{1, side}, side}, ::multiply, static_cast<int>(side), x_.data(), x_.data(), y_.data());
        });
    }

    inline static const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    cudag::PinnedBuffer<float> x_{side * side}, y_{side * side};
};

bool measure(const bench::Options& options) {
    Loops loops;
    Barriers barriers;
    Cores cores;
    bench::rounds(options.repeat, {&loops.add_scaled, &loops.multiply, &loops.escape, &barriers.row, &cores.row},
                  [&](int round) {
                      loops.measure(round);
                      barriers.measure();
                      cores.measure(round);
                  });
    const std::vector<Comparison> rows{loops.add_scaled, loops.multiply, loops.escape, barriers.row, cores.row};
    bench::report("nvcc's kernels on the CPU runtime (cudag) against loops of C++ (raw), " +
                      std::to_string(options.repeat) + " rounds",
                  rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.repeat = 20}, measure);
}
