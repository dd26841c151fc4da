// Graph memory: what build() accepts runs right, what it refuses is wrong.
#pragma once

#include "bench.hpp"
#include "runtime.hpp"

#include <cstdint>

/// Throws if anything is not as it should be.
void fuzz_memory(Bench& bench, std::uint64_t seed, Faults faults);
