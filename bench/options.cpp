// Parses the command line, and turns exceptions into exit codes.
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace bench {

namespace {

constexpr auto usage = " [--nodes N]... [--repeat N] [--json FILE] [--check] [--help]\n"
                       "  --nodes N    nodes of a graph; more than once where the benchmark compares sizes\n"
                       "  --repeat N   rounds, of which the medians are shown\n"
                       "  --json FILE  writes the figures to FILE, too\n"
                       "  --check      exit with 1 if a ratio misses its goal\n";

int positive(const std::string& option, const char* text) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 1 || value > 1'000'000)
        throw UsageError(option + " takes a number from 1 to 1000000, not \"" + text + "\"");
    return static_cast<int>(value);
}

} // namespace

Options parse(int argc, char** argv, Options options) {
    bool default_nodes = true;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--check") {
            options.check = true;
            continue;
        }
        if (option == "--help") {
            options.help = true;
            continue;
        }
        const bool known = option == "--nodes" || option == "--repeat" || option == "--json" ||
                           (option == "--only" && options.only.has_value());
        if (!known) throw UsageError("unknown option " + option);
        if (i + 1 == argc) throw UsageError(option + " needs a value");
        const char* value = argv[++i];
        if (option == "--nodes") {
            if (std::exchange(default_nodes, false)) options.nodes.clear();
            options.nodes.push_back(positive(option, value));
        } else if (option == "--repeat") {
            options.repeat = positive(option, value);
        } else if (option == "--only") {
            options.only = value;
        } else {
            options.json = value;
        }
    }
    return options;
}

int run_benchmark(int argc, char** argv, const Options& defaults, bool (*run)(const Options& options)) {
    const std::string program = std::filesystem::path(argv[0]).filename();
    try {
        const Options options = parse(argc, argv, defaults);
        bool good = true;
        if (options.help)
            std::cout << "usage: " << program << usage
                      << (options.only ? "  --only TEXT  only rows whose name contains TEXT\n" : "") << std::flush;
        else
            good = run(options) || !options.check;
        if (!std::cout || std::fflush(stdout) != 0) throw std::runtime_error("stdout cannot be written");
        return good ? 0 : 1;
    } catch (const UsageError& error) {
        std::cerr << program << ": " << error.what() << "\nusage: " << program << usage;
        return 2;
    } catch (const std::exception& error) {
        std::cerr << program << ": " << error.what() << '\n';
        return 1;
    }
}

} // namespace bench
