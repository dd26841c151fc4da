// CaptureCacheStats, CaptureCacheReport: a CaptureCache's counts and keys, with the reasons for failed captures.
#pragma once

#include <cudag/config.hpp>
#include <cudag/segment_report.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag {

/// The treatment of a key's next call.
enum class KeyState {
    warming_up,  ///< runs eagerly, or is captured if the key is warm
    captured,    ///< is replayed
    eager,       ///< runs eagerly, because its captures failed
    crowded_out, ///< runs eagerly, because the graphs of other keys are used more; may be captured later
};

/// Returns "warming up", "captured", "eager" or "crowded out".
[[nodiscard]] CUDAG_EXPORT const char* to_string(KeyState state) noexcept;

/// Counts of a CaptureCache's runs since its construction, and of its present content.
struct CaptureCacheStats {
    std::uint64_t eager_runs = 0; ///< including the eager run after a failed capture
    std::uint64_t captures = 0;   ///< each followed by a launch
    std::uint64_t failed_captures = 0;
    std::uint64_t replays = 0;
    std::uint64_t evictions = 0; ///< dropped graphs, whose keys stay known, and dropped keys without a graph
    std::size_t keys = 0;
    std::size_t graphs = 0;
    std::uint64_t crowded_runs = 0; ///< eager runs of warm keys for lack of room, among `eager_runs`
    std::uint64_t returns = 0;      ///< runs of keys whose graph was dropped before, each counted once
    std::size_t crowded_keys = 0;   ///< keys that come again now, and find no room
    std::size_t bytes = 0;          ///< device memory of the graphs, estimated: see CaptureCacheOptions::max_bytes
    std::size_t crowded_bytes = 0;  ///< further memory for the graphs of the `crowded_keys`, estimated
    /// The number of graphs for which `capacity` would end the crowding, in `bytes + crowded_bytes`.
    [[nodiscard]] std::size_t needed_capacity() const noexcept { return graphs + crowded_keys; }
    friend bool operator==(const CaptureCacheStats&, const CaptureCacheStats&) = default;
};

/// Describes the counts: "3 keys, 2 graphs; 6 eager runs, 2 captures, 1 failed capture, 40 replays, 0 evictions". A
/// crowded cache adds "; 9 eager runs for lack of room, 4 returns after eviction: capacity 19 would keep the 3 keys
/// without room, in 4.0 MiB".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const CaptureCacheStats& stats);

/// A break of a key's function: it is called in each replay.
struct KeyBreak {
    std::string label;
    SourceLocation location; ///< of the call of `eager`, or of `step`
    /// Error text of the capture that failed in this step, if it is a break since then (`learn_breaks`); empty for
    /// Steps::eager.
    std::string reason;
};

/// The history of one key of a CaptureCache.
struct KeyReport {
    /// Text of the key, such as "\"decode\"" or "(4, 128)". A key without a text is "key 3", the third key given to the
    /// cache.
    std::string key;
    SourceLocation location; ///< location of the key's first `run`
    KeyState state = KeyState::warming_up;
    std::uint64_t eager_runs = 0;
    std::uint64_t replays = 0;
    unsigned failed_captures = 0;
    std::string step;               ///< step of the last failed capture; empty if no step failed, or it has no name
    std::string reason;             ///< error text of the last failed capture; empty if none failed
    std::uint64_t crowded_runs = 0; ///< eager runs of the warm key for lack of room, among `eager_runs`
    std::uint64_t evictions = 0;    ///< of its graph
    std::size_t bytes = 0;          ///< device memory of its graph, also of a dropped one, estimated; 0: none so far
    std::size_t segments = 1;       ///< number of graphs of a captured key
    std::vector<KeyBreak> breaks{}; ///< of a captured key
    std::vector<CrossingBuffer> crossing{}; ///< device memory that lives across breaks
};

/// Describes the key: "\"decode\", first run at a.cpp:12: captured; 2 eager runs, 40 replays". After a failed capture
/// it adds the step and the reason; in a crowded cache, "9 eager runs for lack of room, 1 eviction".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const KeyReport& report);

/// The counts of a CaptureCache, and the history of each key.
struct CaptureCacheReport {
    CaptureCacheStats stats;
    std::vector<KeyReport> keys; ///< least recently run first
};

/// Describes the counts in one line, and each key in a further line.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const CaptureCacheReport& report);

} // namespace cudag
