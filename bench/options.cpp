// Parses the command line, and turns exceptions into exit codes.
#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

int number(const std::string& option, const char* text, int least) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < least || value > 1'000'000)
        throw UsageError(option + " takes a number from " + std::to_string(least) + " to 1000000, not \"" + text +
                         "\"");
    return static_cast<int>(value);
}

/// One option of a benchmark; a flag takes no value.
struct Option {
    std::string name;
    std::string value;
    std::string purpose;
    std::function<void(const char* value)> take;
    bool is_there = true;
    bool repeats = false;
};

/// Lists all options. Parsing writes to `options`, which holds the defaults.
std::vector<Option> options_of(Options& options) {
    const auto one_more = [](std::vector<int>& list, std::string name, int least) {
        return [&list, name = std::move(name), least, first = true](const char* value) mutable {
            const int taken = number(name, value, least);
            if (std::exchange(first, false)) list.clear();
            list.push_back(taken);
        };
    };
    return {
        {"--nodes", "N", "nodes of a graph; more than once where the benchmark compares sizes",
         one_more(options.nodes, "--nodes", 1), !options.nodes.empty(), true},
        {"--duration", "US", "microseconds that a kernel takes; more than once to compare",
         one_more(options.durations, "--duration", 0), !options.durations.empty(), true},
        {"--shape", "TEXT", "only shapes whose name contains TEXT", [&](const char* value) { options.shape = value; },
         options.shape.has_value()},
        {"--way", "NAME", "which way is judged", [&](const char* value) { options.way = value; },
         options.way.has_value()},
        {"--percent", "N", "shapes of N percent of their size",
         [&](const char* value) { options.percent = number("--percent", value, 1); }, options.percent.has_value()},
        {"--shapes", "N", "number of shapes", [&](const char* value) { options.shapes = number("--shapes", value, 1); },
         options.shapes.has_value()},
        {"--seed", "N", "the first shape is the one of this number",
         [&](const char* value) { options.seed = number("--seed", value, 0); }, options.seed.has_value()},
        {"--only", "TEXT", "only rows whose name contains TEXT", [&](const char* value) { options.only = value; },
         options.only.has_value()},
        {"--repeat", "N", "rounds, of which the medians are shown",
         [&](const char* value) { options.repeat = number("--repeat", value, 1); }},
        {"--json", "FILE", "writes the figures to FILE, too", [&](const char* value) { options.json = value; }},
        {"--quick", "", "measures less", [&](const char*) { options.quick = true; }, options.quick.has_value()},
        {"--check", "", "exit with 1 if a ratio misses its goal", [&](const char*) { options.check = true; }},
        {"--help", "", "", [&](const char*) { options.help = true; }},
    };
}

std::string usage(const std::string& program, Options defaults) {
    std::string first = "usage: " + program;
    std::string lines;
    for (const Option& option : options_of(defaults)) {
        if (!option.is_there) continue;
        const std::string call = option.name + (option.value.empty() ? "" : " " + option.value);
        first += " [" + call + "]" + (option.repeats ? "..." : "");
        if (option.purpose.empty()) continue;
        lines += "  " + call + std::string(call.size() < 14 ? 14 - call.size() : 1, ' ') + option.purpose + "\n";
    }
    return first + "\n" + lines;
}

} // namespace

Options parse(int argc, char** argv, Options options) {
    std::vector<Option> known = options_of(options);
    std::erase_if(known, [](const Option& option) { return !option.is_there; });
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        const auto option =
            std::find_if(known.begin(), known.end(), [&](const Option& one) { return one.name == name; });
        if (option == known.end()) throw UsageError("unknown option " + name);
        if (!option->value.empty() && i + 1 == argc) throw UsageError(name + " needs a value");
        option->take(option->value.empty() ? nullptr : argv[++i]);
    }
    return options;
}

int run_benchmark(int argc, char** argv, const Options& defaults, bool (*run)(const Options& options)) {
    const std::string program = std::filesystem::path(argv[0]).filename();
    try {
        const Options options = parse(argc, argv, defaults);
        bool good = true;
        if (options.help)
            std::cout << usage(program, defaults) << std::flush;
        else
            good = run(options) || !options.check;
        if (!std::cout || std::fflush(stdout) != 0) throw std::runtime_error("stdout cannot be written");
        return good ? 0 : 1;
    } catch (const UsageError& error) {
        std::cerr << program << ": " << error.what() << '\n' << usage(program, defaults);
        return 2;
    } catch (const std::exception& error) {
        std::cerr << program << ": " << error.what() << '\n';
        return 1;
    }
}

} // namespace bench
