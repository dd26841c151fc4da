// What all seeds of one process share: memory, streams and events.
#pragma once

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
