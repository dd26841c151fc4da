// The solver twice: its loop on the host, and on the device.
#pragma once

#include <cudag/cudag.hpp>

#include "kernels.hpp"
#include "problem.hpp"

namespace jacobi {

/// What both solvers work on.
struct Fields {
    explicit Fields(const Problem& problem);

    Problem problem;
    cudag::LaunchConfig config; // of a sweep
    cudag::PinnedBuffer<float> host_right_side;
    cudag::PinnedBuffer<float> host_values; // downloaded: even, then odd
    cudag::PinnedBuffer<Progress> host_progress;
    cudag::DeviceBuffer<float> right_side;
    cudag::DeviceBuffer<float> even;
    cudag::DeviceBuffer<float> odd;
    cudag::DeviceBuffer<Progress> progress;

    /// What was downloaded.
    Solution solution() const;
};

/// Launches a sweep, copies the change to the host, waits for it, and decides.
class HostLoop {
  public:
    explicit HostLoop(const Problem& problem) : fields_(problem) {}

    /// Solves, and waits for that.
    void run(cudag::Stream& stream);
    Solution solution() const { return fields_.solution(); }

  private:
    Fields fields_;
};

/// One launch of a graph whose loop the device runs by itself.
class DeviceLoop {
  public:
    explicit DeviceLoop(const Problem& problem);

    /// Solves, and waits for that.
    void run(cudag::Stream& stream);
    Solution solution() const { return fields_.solution(); }

    const cudag::Graph& graph() const { return graph_; }

  private:
    Fields fields_;
    cudag::Graph graph_;
    cudag::Exec exec_;
};

} // namespace jacobi
