// The command line that the benchmarks share.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// What a benchmark has no default for is no option of its.
struct Options {
    std::vector<int> nodes = {};     ///< sizes of graphs
    std::vector<int> durations = {}; ///< of a kernel, microseconds
    int repeat = 200;
    std::string json = {};
    bool check = false;
    bool help = false;                               ///< asks for the usage, and nothing else
    std::optional<std::string> only = std::nullopt;  ///< rows whose name contains it
    std::optional<std::string> shape = std::nullopt; ///< shapes whose name contains it
    std::optional<std::string> way = std::nullopt;   ///< which of several ways is judged
    std::optional<int> percent = std::nullopt;       ///< the size of shapes
    std::optional<int> shapes = std::nullopt;        ///< how many shapes are drawn
    std::optional<int> seed = std::nullopt;          ///< of the first of them
    std::optional<bool> quick = std::nullopt;        ///< measures less
};

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the command line changes in `defaults`: `--repeat N`, `--json FILE`, `--check` and `--help`, and those of
/// `--nodes N`, `--duration US` (both once or more), `--only TEXT`, `--shape TEXT`, `--way NAME`, `--percent N`,
/// `--shapes N`, `--seed N` and `--quick` that have a default. Throws UsageError for anything else.
[[nodiscard]] Options parse(int argc, char** argv, Options defaults);

/// Calls `run(options)`; its result is true if all goals were met. Prints errors and returns the program's exit code.
int run_benchmark(int argc, char** argv, const Options& defaults, bool (*run)(const Options& options));

} // namespace bench
