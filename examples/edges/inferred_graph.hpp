// The pipeline as a graph whose edges nobody has written.
#pragma once

#include "frame_buffers.hpp"

namespace edges {

/// The same graph as that of build_frame_graph.
cudag::Graph infer_frame_graph(const FrameBuffers& buffers, const HostFrame& frame, int& next_threshold);

} // namespace edges
