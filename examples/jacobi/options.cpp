// Options and their values.
#include "options.hpp"

#include <charconv>

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

namespace {

int parse_number(const std::string& name, const std::string& text, int most) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || parsed != end || value < 1 || value > most) {
        throw BadInput(name + " takes a number from 1 to " + std::to_string(most) + ", not '" + text + "'");
    }
    return value;
}

float parse_tolerance(const std::string& text) {
    float value = 0;
    const char* end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || parsed != end || !(value > 0) || value > 1) {
        throw BadInput("--tolerance takes a number above 0, at most 1, not '" + text + "'");
    }
    return value;
}

} // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
        const std::string& name = *argument;
        const auto value = [&]() -> const std::string& {
            if (++argument == arguments.end()) {
                throw BadInput(name + " needs a value; see --help");
            }
            return *argument;
        };
        if (name == "--side") {
            options.problem.side = parse_number(name, value(), 4096);
        } else if (name == "--tolerance") {
            options.problem.tolerance = parse_tolerance(value());
        } else if (name == "--max-sweeps") {
            options.problem.max_sweeps = static_cast<unsigned>(parse_number(name, value(), 10'000'000));
        } else if (name == "--repeat") {
            options.repeat = parse_number(name, value(), 1000);
        } else if (name == "--dot") {
            options.dot = value();
        } else if (name == "--verify") {
            options.verify = true;
        } else if (name == "--help") {
            options.help = true;
        } else {
            throw BadInput("unknown option '" + name + "'; see --help");
        }
    }
    return options;
}

} // namespace jacobi
