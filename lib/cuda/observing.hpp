// The source of events for observers: set_observer(), CUDAG_LOG, CUDAG_DOT and CUDAG_TRACE.
#pragma once

#include <cudag/observer.hpp>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace cudag::detail {

/// Whether an event would be delivered. The first call reads the environment. Only slow calls ask: no launch, and no
/// update of a single node. False inside an observer.
[[nodiscard]] bool is_observed() noexcept;

/// Delivers `event` to the observers of the environment and then to the one set. Hold no lock meanwhile.
void deliver(const Observation& event) noexcept;

/// Prints the exception being handled.
void report_unobserved() noexcept;

/// Delivers the event returned by `make`, if anything observes. Errors of `make` are printed.
template <class Make>
void observe(const Make& make) noexcept {
    if (!is_observed()) [[likely]]
        return;
    try {
        deliver(Observation{make()});
    } catch (...) {
        report_unobserved();
    }
}

/// The observers requested by the environment: lib/observe defines it. Reports wrong values on stderr.
[[nodiscard]] std::vector<Observer> observers_of_environment();

/// The number of misses of a cache in a row.
class ConsecutiveMisses {
  public:
    /// Notes a miss of a cache that has had `hits` so far. Returns the number of misses since the last hit.
    std::uint64_t note(std::uint64_t hits) noexcept {
        misses_ = std::exchange(hits_before_, hits) == hits ? misses_ + 1 : 1;
        return misses_;
    }

  private:
    std::uint64_t misses_ = 0;
    std::uint64_t hits_before_ = 0; ///< the last miss
};

/// The time of a call.
class CallTime {
  public:
    [[nodiscard]] double milliseconds() const noexcept {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace cudag::detail
