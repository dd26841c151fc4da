// What nodes do to memory, against a naive oracle: edges, races, captures, regions, conditions, caches, segments,
// buckets, pools and owners.
#pragma once

#include "bench.hpp"

#include <cstdint>

// All throw if anything is not as it should be.

/// Inferred edges and races with binds, driven sizes, updates by structure and of children.
void fuzz_races(Bench& bench, std::uint64_t seed);
/// Captures with written nodes, forks and joins, that throw, and are relaxed.
void fuzz_captures(Bench& bench, std::uint64_t seed);
/// Captured regions with declarations, in builders.
void fuzz_regions(Bench& bench, std::uint64_t seed);
/// Programs of conditions that kernels set, with inferred edges.
void fuzz_programs(Bench& bench, std::uint64_t seed);
/// Two caches of either kind, and several streams.
void fuzz_caches(Bench& bench, std::uint64_t seed);
/// Programs with breaks, as SegmentedGraphs and in CaptureCaches.
void fuzz_segments(Bench& bench, std::uint64_t seed);
/// Graphed functions with buckets, whose memory is released and restored.
void fuzz_buckets(Bench& bench, std::uint64_t seed);
/// Pools released and restored, and pools in an order.
void fuzz_pools(Bench& bench, std::uint64_t seed);
/// What graphs and Execs own, while launches in any stream use it.
void fuzz_owners(Bench& bench, std::uint64_t seed);
