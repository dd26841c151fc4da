// Numbers from environment variables.
#include "environment.hpp"

#include <cstdio>
#include <cstdlib>

namespace cudart_cpu::detail {

std::uint64_t number_from_environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') {
        return 0;
    }
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(value, &end, 0);
    if (*end != '\0') {
        std::fprintf(stderr, "cudart-cpu: %s=%s is no number\n", name, value);
        std::abort();
    }
    return number;
}

} // namespace cudart_cpu::detail
