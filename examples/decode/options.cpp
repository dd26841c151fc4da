// Options and their values.
#include "options.hpp"

#include "program/arguments.hpp"

namespace decode {

const char* const usage =
    R"(usage: decode [option]...

Lets a toy language model in integers write tokens, once with plain CUDA launches, and once with a graph that every step
updates: the position in all layers, and where in the caches its key and value belong. Says what a token takes each way.

  --steps N    how many tokens to write, at most 256 (128)
  --seed N     which model (1)
  --repeat N   write them N times each way and take the median time (5)
  --dot FILE   write the graph to FILE, for Graphviz: dot -Tsvg FILE
  --verify     compare tokens and caches with those of plain C++
  --help       print this

The exit code is 2 if the arguments are no good, 1 if a result was wrong or CUDA reported an error.
)";

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--steps")) {
            options.steps = arguments.number(1, max_positions);
        } else if (arguments.is("--seed")) {
            options.seed = static_cast<unsigned>(arguments.number(1, 1'000'000'000));
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

} // namespace decode
