// Acts in several streams: which waits they need, and the order that a capture of them has.
#pragma once

#include "acts.hpp"
#include "bench.hpp"

#include <cudag/cudag.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

/// What is recorded in turn: each in a lane, after all that its lane has recorded, and after what it waits for.
struct LaneStep {
    unsigned lane = 0;
    std::vector<unsigned> waits;
};

/// Draws lanes for `nodes`, lane 0 for those that are `written` by the capture, and waits for all that they need, and
/// for some more.
[[nodiscard]] std::vector<LaneStep> draw_lanes(const std::vector<Accesses>& nodes, const std::vector<bool>& written,
                                               Random& random);
/// The order that a capture of these has: not of what is enqueued, which `record_lanes` says.
[[nodiscard]] Order order_of_lanes(const std::vector<LaneStep>& steps);
/// Calls `record(i, stream)` for each step, forks and joins. The capture is of `bench.captured[0]`.
void record_lanes(cudag::StreamCapture& c, const Bench& bench, const std::vector<LaneStep>& steps,
                  const std::function<void(unsigned, cudaStream_t)>& record);
