// How fast everyday programs run on the CPU runtime: their kernels against the same programs as loops, in processor
// time.
#include "cpu_programs.hpp"

#include "options.hpp"
#include "report.hpp"

#include <stdexcept>
#include <string>
#include <time.h>
#include <vector>

namespace {

using bench::Comparison;

/// Microseconds of the process's threads, in which other processes do not count.
template <class Work>
double processor_time(Work&& work) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
    };
    const double start = now();
    work();
    return now() - start;
}

bool measure(const bench::Options& options) {
    std::vector<Comparison> rows;
    for (const auto& program : programs::all()) {
        if (std::string(program->name).find(options.only.value_or("")) == std::string::npos) continue;
        Comparison row{program->name, program->goal, {}, {}};
        bench::rounds(options.repeat, {&row}, [&](int round) {
            bench::compare(
                row, round, [&] { return processor_time([&] { program->loops(); }); },
                [&] { return processor_time([&] { program->kernels(); }); });
        });
        if (!program->agrees()) throw std::runtime_error(std::string(program->name) + ": the results are not the same");
        rows.push_back(row);
    }
    bench::report("programs on the CPU runtime (cudag) against loops of C++ (raw), " + std::to_string(options.repeat) +
                      " rounds",
                  rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.repeat = 9, .only = ""}, measure);
}
