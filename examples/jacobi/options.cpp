// Options and their values.
#include "options.hpp"

#include "program/arguments.hpp"

namespace jacobi {

const char* const usage =
    R"(usage: jacobi [option]...

Solves Poisson's equation on a square with Jacobi's method, once with a loop on the host, which launches every sweep and
waits to see whether it was the last, and once with a loop on the device: a graph with a while node. Says what a sweep
takes in each.

  --side N         values in a row (64)
  --tolerance T    stop when no value changes by more than T (1e-5)
  --max-sweeps N   stop after N sweeps in any case (100000)
  --repeat N       solve N times each way and take the median time (5)
  --dot FILE       write the graph to FILE, for Graphviz: dot -Tsvg FILE
  --verify         compare both solutions with that of plain C++, bit by bit
  --help           print this

The exit code is 2 if the arguments are no good, 1 if a solution was wrong or CUDA reported an error.
)";

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--side")) {
            options.problem.side = arguments.number(1, 4096);
        } else if (arguments.is("--tolerance")) {
            options.problem.tolerance = arguments.fraction<float>();
        } else if (arguments.is("--max-sweeps")) {
            options.problem.max_sweeps = static_cast<unsigned>(arguments.number(1, 10'000'000));
        } else if (arguments.is("--repeat")) {
            options.repeat = arguments.number(1, 1000);
        } else if (arguments.is("--dot")) {
            options.dot = arguments.value();
        } else if (arguments.is("--verify")) {
            options.verify = true;
        } else if (arguments.is("--help")) {
            options.help = true;
        } else {
            arguments.refuse();
        }
    }
    return options;
}

} // namespace jacobi
