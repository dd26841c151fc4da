// The life of the graphs of one plan: made, updated, cloned, instantiated and launched in a random order.
#pragma once

#include "bench.hpp"
#include "plan.hpp"
#include "runtime.hpp"

#include <cstdint>

struct DagOptions {
    Profile profile;
    Faults faults = Faults::off;
    unsigned operations = 10; ///< at most
    unsigned failing_regions = 4;
    unsigned removals = 12;
    unsigned whole_updates = 1; ///< how often, relative to other operations
};

/// Throws if anything is not as it should be.
void fuzz_dag(Bench& bench, std::uint64_t seed, const DagOptions& options);
