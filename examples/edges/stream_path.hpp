// The pipeline as plain launches on one stream: what the graph is compared with.
#pragma once

#include "frame_buffers.hpp"

namespace edges {

class StreamPath {
  public:
    explicit StreamPath(Size size) : buffers_(size) {}

    FrameBuffers& buffers() { return buffers_; }

    /// Runs the frame in `buffers().input`; its edges are then in `buffers().output`.
    /// Waits for the result. Returns the next frame's threshold.
    int run(cudag::Stream& stream, int threshold);

  private:
    FrameBuffers buffers_;
};

} // namespace edges
