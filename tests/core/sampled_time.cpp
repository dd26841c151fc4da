// Time that is told from some of many measurements.
#include "exec/sampled_time.hpp"

#include "catch.hpp"

#include <chrono>
#include <thread>

using cudag::detail::SampledTime;

TEST_CASE("scopes that are not measured count as long as those that are") {
    SampledTime time(2);
    CHECK(time.seconds() == 0);
    const std::chrono::duration<double> nap = std::chrono::milliseconds(2);
    const auto begin = std::chrono::steady_clock::now();
    {
        const SampledTime::Scope measured(time);
        std::this_thread::sleep_for(nap);
    }
    const std::chrono::duration<double> of_first = std::chrono::steady_clock::now() - begin;
    CHECK(time.seconds() >= nap.count());
    CHECK(time.seconds() <= of_first.count());
    { const SampledTime::Scope not_measured(time); }
    CHECK(time.seconds() >= 2 * nap.count());
    CHECK(time.seconds() <= 2 * of_first.count());
    {
        const SampledTime::Scope measured(time);
        std::this_thread::sleep_for(nap);
    }
    CHECK(time.seconds() >= 3 * nap.count());
}
