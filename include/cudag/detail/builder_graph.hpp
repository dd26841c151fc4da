// BuilderGraph: a builder's graph, for the time of one call.
#pragma once

#include <cudag/config.hpp>

namespace cudag::detail {

class GraphState;

/// Stands for the current device, whichever it is.
inline constexpr int any_device = -1;

/// Refers to a graph. A reference made with a device keeps that device current during its lifetime, and the graph's new
/// nodes record it; afterwards the caller's device is current again. The number of a green context counts as a device.
class BuilderGraph {
  public:
    explicit BuilderGraph(GraphState& graph) noexcept : graph_(graph) {}
    /// Throws GraphError if CUDA cannot make `device` current.
    CUDAG_EXPORT BuilderGraph(GraphState& graph, int device);
    ~BuilderGraph() {
        if (previous_ != any_device) [[unlikely]]
            leave_device();
    }
    BuilderGraph(const BuilderGraph&) = delete;
    BuilderGraph& operator=(const BuilderGraph&) = delete;

    operator GraphState&() const noexcept { return graph_; }

  private:
    CUDAG_EXPORT void leave_device() noexcept;

    GraphState& graph_;
    int previous_ = any_device; ///< the caller's device, if this was made with a device
    int outer_ = any_device;    ///< the device that new nodes record afterwards
};

} // namespace cudag::detail
