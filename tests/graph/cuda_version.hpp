// Tests of what only some versions of CUDA can do.
#pragma once

#include "test.hpp"

#include <algorithm>

/// Whether CUDA here, that is headers, runtime and driver, is older than `needed`, such as 12080; says so.
inline bool older_than(int needed) {
    int runtime = 0;
    int driver = 0;
    cudag::check(cudaRuntimeGetVersion(&runtime));
    cudag::check(cudaDriverGetVersion(&driver));
    const int here = std::min({CUDART_VERSION, runtime, driver});
    if (here >= needed) return false;
    WARN("skipped: it needs CUDA " << needed / 1000 << '.' << needed % 1000 / 10 << ", and here is CUDA " << here / 1000
                                   << '.' << here % 1000 / 10);
    return true;
}
