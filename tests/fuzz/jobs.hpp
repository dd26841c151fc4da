// Runs seeds in processes of their own, so that one that crashes or hangs is told of.
#pragma once

#include <cstdint>
#include <functional>

struct Jobs {
    std::uint64_t from = 1;
    std::uint64_t seeds = 1;
    unsigned jobs = 1;      ///< processes; 0: in this one
    unsigned timeout = 300; ///< seconds that one seed may take
};

struct Totals {
    std::uint64_t seeds = 0;
    std::uint64_t launches = 0;
    std::uint64_t faults = 0;
    std::uint64_t refused = 0;
    std::uint64_t failures = 0;
};

/// Calls `run(seed)` for all seeds; one that throws has failed. `name` says what is run. Prints what failed seeds did.
Totals run_seeds(const char* name, const Jobs& jobs, const std::function<void(std::uint64_t)>& run);
