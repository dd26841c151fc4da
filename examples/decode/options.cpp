// Options and their values.
#include "options.hpp"

#include <charconv>

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
        if (name == "--steps") {
            options.steps = parse_number(name, value(), max_positions);
        } else if (name == "--seed") {
            options.seed = static_cast<unsigned>(parse_number(name, value(), 1'000'000'000));
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

} // namespace decode
