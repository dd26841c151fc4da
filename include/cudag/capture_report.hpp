// What a CaptureCache says about its keys: which were captured, and why the others were not.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag {

/// What becomes of a key's next call.
enum class KeyState {
    warming_up, ///< it runs eagerly, or is captured if it has been warmed up
    captured,   ///< it is replayed
    eager,      ///< it runs eagerly, as it could not be captured
};

/// "warming up", "captured" or "eager".
[[nodiscard]] CUDAG_EXPORT const char* to_string(KeyState state) noexcept;

/// What a CaptureCache has done since it was made, and what it holds.
struct CaptureCacheStats {
    std::uint64_t eager_runs = 0; ///< those after a failed capture included
    std::uint64_t captures = 0;   ///< each with a launch
    std::uint64_t failed_captures = 0;
    std::uint64_t replays = 0;
    std::uint64_t evictions = 0; ///< of keys, with a graph or without
    std::size_t keys = 0;
    std::size_t graphs = 0;
    friend bool operator==(const CaptureCacheStats&, const CaptureCacheStats&) = default;
};

/// "3 keys, 2 graphs; 6 eager runs, 2 captures, 1 failed capture, 40 replays, 0 evictions"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const CaptureCacheStats& stats);

/// What a CaptureCache knows of one key.
struct KeyReport {
    std::string key; ///< "\"decode\"" or "(4, 128)"; "key 3", the third that the cache was given, where it has no text
    SourceLocation location; ///< of the first `run` with it
    KeyState state = KeyState::warming_up;
    std::uint64_t eager_runs = 0;
    std::uint64_t replays = 0;
    unsigned failed_captures = 0;
    std::string step;   ///< in which the last capture failed; empty if in none that has a name
    std::string reason; ///< why it failed, as the error says; empty if none failed
};

/// "\"decode\", first run at a.cpp:12: captured; 2 eager runs, 40 replays"; if a capture failed, in which step and why.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const KeyReport& report);

struct CaptureCacheReport {
    CaptureCacheStats stats;
    std::vector<KeyReport> keys; ///< the least recently run first
};

/// The stats, and a line for each key.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const CaptureCacheReport& report);

} // namespace cudag
