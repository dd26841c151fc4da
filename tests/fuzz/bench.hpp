// What all seeds of one process share: memory, streams and events.
#pragma once

#include "runtime.hpp"

#include <cudag/cudag.hpp>

#include <cstdint>
#include <vector>

struct Bench {
    static constexpr unsigned areas = 1024;
    static constexpr unsigned lanes = 3;
    static constexpr unsigned event_count = 8;
    static constexpr unsigned steps = 512; ///< of a capture, at most

    Bench();

    /// The words of all areas: pinned, as device and host both read and write them.
    cudag::PinnedBuffer<std::uint32_t> words;
    cudag::Stream streams[2];           ///< to launch in
    cudag::Stream captured[lanes];      ///< to capture
    std::vector<cudag::Event> events;   ///< that nodes record and wait for
    std::vector<cudag::Event> recorded; ///< of the steps of a capture

    /// Ends captures that a failing call has left.
    void end_captures() const;
};

/// What a function throws on purpose.
struct Planned {};

/// Runs what one seed of a kind does, of which nothing may be left.
template <class Fuzz>
void run_leaving_nothing(Bench& bench, std::uint64_t seed) {
    const LeakCheck leaks;
    {
        Fuzz fuzz(bench, seed);
        try {
            fuzz.run();
        } catch (...) {
            static_cast<void>(cudaDeviceSynchronize()); // before what it uses goes
            bench.end_captures();
            throw;
        }
    }
    leaks.require_nothing_left(false);
}
