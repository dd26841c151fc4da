// The fuzzers: random graphs with random lives, against an oracle in plain C++.
#include "bench.hpp"
#include "dag.hpp"
#include "jobs.hpp"
#include "memory.hpp"
#include "races.hpp"
#include "report.hpp"
#include "runtime.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* usage =
    R"(usage: fuzz [--seeds N] [--from S] [--seed S] [--only KIND]... [--jobs J] [--timeout SECONDS]

  --seeds N    so many seeds of each kind (default 20)
  --from S     from seed S on (default 1)
  --seed S     one seed, in this process: what it does is printed as it goes on, and the exit status says how it ended
  --only KIND  one of the kinds below; several may be given (default: all that the runtime can run)
  --jobs J     in J processes (default 1); 0: in this one, for a debugger
  --timeout T  a seed that takes more seconds hangs (default 300)

  dag          DAGs of all kinds of nodes: updates, apply, enable, clone, whole updates, regions that fail
  conditional  if, while and switch inside each other, with bodies that throw
  whole        whole updates that change kernels, children updated as a whole, handles that are out of date
  memory       alloc and free nodes: what build() accepts runs right, what it refuses is wrong
  races        inferred edges and races, with binds, driven sizes, updates by structure and of children
  captures     captures with nodes written into them, forks and joins, that throw, and are relaxed
  regions      captured regions with declarations, in builders
  programs     conditions that kernels set, with inferred edges
  owners       what graphs and Execs own, and launches in any stream
  caches       two ExecCaches and two CaptureCaches in several streams
  segments     programs with breaks that decide and throw, as SegmentedGraphs and in CaptureCaches
  buckets      graphed functions with buckets: padding, prepare, breaks, failures, released memory
  pools        CapturePools released and restored, and launches in the order of a PoolOrder
  calls        runtime calls that fail, in the first four (CPU runtime)
  new          allocations that fail, in the first four (CPU runtime)
)";

DagOptions dag_options() {
    DagOptions options;
    options.profile.conditionals = 0;
    return options;
}

/// One graph in four has conditionals, which rule out clones.
DagOptions dag_options(std::uint64_t seed) {
    DagOptions options = dag_options();
    if (seed % 4 == 0) options.profile.conditionals = 8;
    return options;
}

DagOptions conditional_options() {
    DagOptions options;
    options.profile = {.steps = 8, .large = 40, .depth = 4, .children = 8, .conditionals = 35, .captured = 3};
    options.profile.throws = 40;
    options.operations = 8;
    options.failing_regions = 3;
    return options;
}

DagOptions whole_options() {
    DagOptions options;
    options.profile = {.steps = 12, .large = 40, .depth = 3, .children = 20, .captured = 40};
    options.profile.functions_vary = true;
    options.operations = 14;
    options.failing_regions = 1;
    options.whole_updates = 2;
    return options;
}

void run_faults(Bench& bench, std::uint64_t seed, Faults faults) {
    DagOptions options = seed % 4 == 0   ? conditional_options()
                         : seed % 4 == 1 ? whole_options()
                                         : dag_options(seed / 4);
    options.profile.steps = 8;
    options.profile.large = 12;
    options.operations = 8;
    options.failing_regions = 0;
    options.profile.throws = 0;
    options.faults = faults;
    if (seed % 8 == 7)
        fuzz_memory(bench, seed, faults);
    else
        fuzz_dag(bench, seed, options);
}

struct Fuzzer {
    const char* name;
    bool injects;
    void (*run)(Bench& bench, std::uint64_t seed);
};

constexpr Fuzzer fuzzers[] = {
    {"dag", false, [](Bench& bench, std::uint64_t seed) { fuzz_dag(bench, seed, dag_options(seed)); }},
    {"conditional", false, [](Bench& bench, std::uint64_t seed) { fuzz_dag(bench, seed, conditional_options()); }},
    {"whole", false, [](Bench& bench, std::uint64_t seed) { fuzz_dag(bench, seed, whole_options()); }},
    {"memory", false, [](Bench& bench, std::uint64_t seed) { fuzz_memory(bench, seed, Faults::off); }},
    {"races", false, &fuzz_races},
    {"captures", false, &fuzz_captures},
    {"regions", false, &fuzz_regions},
    {"programs", false, &fuzz_programs},
    {"caches", false, &fuzz_caches},
    {"segments", false, &fuzz_segments},
    {"buckets", false, &fuzz_buckets},
    {"pools", false, &fuzz_pools},
    {"owners", false, &fuzz_owners},
    {"calls", true, [](Bench& bench, std::uint64_t seed) { run_faults(bench, seed, Faults::calls); }},
    {"new", true, [](Bench& bench, std::uint64_t seed) { run_faults(bench, seed, Faults::allocations); }},
};

struct Options {
    Jobs jobs{.from = 1, .seeds = 20};
    bool one = false;
    std::vector<std::string> only;
};

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("\"" + std::string(text) + "\" is no number");
    return value;
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help") {
            std::fputs(usage, stdout);
            std::exit(std::fflush(stdout) == 0 ? 0 : 1);
        }
        if (++i == argc) throw std::invalid_argument("what follows " + std::string(name) + "?");
        const std::string_view value = argv[i];
        if (name == "--seeds") {
            options.jobs.seeds = number(value);
        } else if (name == "--from") {
            options.jobs.from = number(value);
        } else if (name == "--seed") {
            options.jobs.from = number(value);
            options.jobs.seeds = 1;
            options.jobs.jobs = 0;
            options.one = true;
        } else if (name == "--jobs") {
            options.jobs.jobs = static_cast<unsigned>(number(value));
        } else if (name == "--timeout") {
            options.jobs.timeout = static_cast<unsigned>(number(value));
        } else if (name == "--only") {
            options.only.emplace_back(value);
        } else {
            throw std::invalid_argument("there is no option " + std::string(name));
        }
    }
    for (const std::string& only : options.only) {
        bool known = false;
        for (const Fuzzer& fuzzer : fuzzers)
            known = known || (only == fuzzer.name && (can_fail() || !fuzzer.injects));
        if (!known) throw std::invalid_argument("this runtime has no fuzzer \"" + only + "\"");
    }
    return options;
}

bool is_chosen(const Options& options, const Fuzzer& fuzzer) {
    if (fuzzer.injects && !can_fail()) return false;
    if (options.only.empty()) return true;
    for (const std::string& only : options.only)
        if (only == fuzzer.name) return true;
    return false;
}

int run(const Options& options) {
    std::uint64_t failures = 0;
    std::unique_ptr<Bench> bench; // of the process that runs seeds: no other may make CUDA calls
    for (const Fuzzer& fuzzer : fuzzers) {
        if (!is_chosen(options, fuzzer)) continue;
        const auto start = std::chrono::steady_clock::now();
        const Totals totals = run_seeds(fuzzer.name, options.jobs, [&](std::uint64_t seed) {
            schedule(seed);
            if (!bench) bench = std::make_unique<Bench>();
            fuzzer.run(*bench, seed);
            if (options.one) std::fwrite(report->text, 1, report->length, stdout);
        });
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        std::printf(
            "%s: %llu seeds from %llu, %llu launches, %llu refusals, %llu faults: %llu failed (%.1f s)\n", fuzzer.name,
            static_cast<unsigned long long>(totals.seeds), static_cast<unsigned long long>(options.jobs.from),
            static_cast<unsigned long long>(totals.launches), static_cast<unsigned long long>(totals.refused),
            static_cast<unsigned long long>(totals.faults), static_cast<unsigned long long>(totals.failures), seconds);
        failures += totals.failures;
    }
    if (std::fflush(stdout) != 0) return 2;
    return failures == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fuzz: %s\n", error.what());
        return 2;
    }
}
