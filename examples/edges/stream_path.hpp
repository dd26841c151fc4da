// The pipeline as plain launches on one stream: what the graph is compared with.
#pragma once

#include "frame_buffers.hpp"

namespace edges {

class StreamPath {
  public:
    explicit StreamPath(Size size) : buffers_(size) {}

    /// Finds the edges of `frame`. Waits for the result. Returns the next frame's threshold.
    int run(cudag::Stream& stream, HostFrame& frame, int threshold);

  private:
    FrameBuffers buffers_;
};

} // namespace edges
