// Runs all frames both ways, checks them, and measures.
#pragma once

#include <chrono>
#include <stdexcept>

#include "frame_source.hpp"
#include "graph_path.hpp"
#include "options.hpp"
#include "stream_path.hpp"

namespace edges {

/// A result is not what the oracle says.
struct WrongFrame : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The time that each way took for a frame, from its upload until its results were on the host: the median, so that
/// what else the machine does now and then does not count. Reading or generating, checking and writing frames is not in
/// it.
struct Times {
    std::chrono::duration<double> stream{};
    std::chrono::duration<double> graph{};
};

/// Runs every frame on both paths, one at a time. With `options.verify` each result is compared with the oracle's, and
/// the first wrong one throws WrongFrame. With `options.output` the graph's results are written to that directory.
Times compare(StreamPath& stream_path, GraphPath& graph_path, const FrameSource& frames, const Options& options);

} // namespace edges
