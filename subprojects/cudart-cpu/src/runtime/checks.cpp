// The checks requested by CUDART_CPU_CHECK, and CUDART_CPU_LOCKSTEP.
#include "checks.hpp"

#include "environment.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cudart_cpu::detail {

namespace {

struct Checks {
    ptx::u32 of_kernels = 0;
    bool writes = false;
};

const Checks& environment() {
    static const Checks checks = [] {
        const char* const value = std::getenv("CUDART_CPU_CHECK");
        std::string_view left = value == nullptr ? "" : value;
        Checks found;
        if (number_from_environment("CUDART_CPU_LOCKSTEP") != 0) found.of_kernels |= ptx::keep_lockstep;
        while (!left.empty()) {
            const std::size_t end = std::min(left.find(','), left.size());
            const std::string_view word = left.substr(0, end);
            left.remove_prefix(std::min(end + 1, left.size()));
            if (word == "memory")
                found.of_kernels |= ptx::check_memory;
            else if (word == "race")
                found.of_kernels |= ptx::check_race;
            else if (word == "writes")
                found.writes = true;
            else if (word == "1")
                found = {found.of_kernels | ptx::check_memory | ptx::check_race, true};
            else {
                std::fprintf(stderr,
                             "cudart-cpu: CUDART_CPU_CHECK is \"%s\"; it may be memory, race, writes, some of these "
                             "with commas, or 1 for all\n",
                             value);
                std::abort();
            }
        }
        return found;
    }();
    return checks;
}

} // namespace

ptx::u32 checks_from_environment() {
    return environment().of_kernels;
}

bool checks_writes() {
    return environment().writes;
}

} // namespace cudart_cpu::detail
