#pragma once

#include <cstdlib>

/// How many random graphs a test makes that makes `usual` of them where CUDAG_SCENARIO_SEEDS is its default, 20.
inline unsigned seed_count(unsigned usual = 20) {
    const char* const given = std::getenv("CUDAG_SCENARIO_SEEDS");
    return given == nullptr ? usual : static_cast<unsigned>(usual * std::strtoul(given, nullptr, 10) / 20);
}
