// How fast everyday programs run on the CPU runtime: their kernels against the same programs as loops, in processor
// time.
#include "cpu_programs.hpp"

#include "options.hpp"
#include "processor_time.hpp"
#include "report.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::Comparison;
using bench::processor_time;

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
