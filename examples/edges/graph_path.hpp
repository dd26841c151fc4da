// The pipeline as a graph: built once, launched for every frame.
#pragma once

#include "frame_buffers.hpp"

namespace edges {

/// The graph, and the handles of the nodes that change from frame to frame.
struct FrameGraph {
    cudag::Graph graph;
    cudag::MemcpyNode upload;
    cudag::MemcpyNode download;
    cudag::KernelNode<const std::uint8_t*, std::uint8_t*, int, int, int> threshold;
};

/// Builds the graph over `buffers`, at first for `frame`. Its host node writes `next_threshold`, which must outlive
/// every launch.
FrameGraph build_frame_graph(const FrameBuffers& buffers, const HostFrame& frame, int& next_threshold);

class GraphPath {
  public:
    explicit GraphPath(Size size);
    GraphPath(const GraphPath&) = delete; // the graph writes to a member
    GraphPath& operator=(const GraphPath&) = delete;

    const cudag::Graph& graph() const { return frame_.graph; }

    /// Finds the edges of `frame`. Waits for the result. Returns the next frame's threshold.
    int run(cudag::Stream& stream, HostFrame& frame, int threshold);

  private:
    FrameBuffers buffers_;
    int next_threshold_ = 0;
    FrameGraph frame_;
    cudag::Exec exec_;
};

} // namespace edges
