// The processor time of some work.
#pragma once

#include <time.h>

namespace bench {

/// Microseconds of the process's threads, in which other processes do not count.
template <class Work>
double processor_time(Work&& work) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
    };
    const double start = now();
    work();
    return now() - start;
}

} // namespace bench
