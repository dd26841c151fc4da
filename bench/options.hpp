// The command line that the benchmarks share.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct Options {
    std::vector<int> nodes = {}; ///< sizes of graphs
    int repeat = 200;
    std::string json = {};
    bool check = false;
    bool help = false;                              ///< asks for the usage, and nothing else
    std::optional<std::string> only = std::nullopt; ///< rows whose name contains it; none for a benchmark without rows
};

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What `--nodes N` (once or more), `--repeat N`, `--json FILE`, `--check` and `--help` change in `defaults`, and
/// `--only TEXT` where these have one.
/// Throws UsageError for anything else.
[[nodiscard]] Options parse(int argc, char** argv, Options defaults);

/// Calls `run(options)`, which says whether all goals were met; prints errors and returns the program's exit code.
int run_benchmark(int argc, char** argv, const Options& defaults, bool (*run)(const Options& options));

} // namespace bench
