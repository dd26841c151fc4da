// The conjugate gradient method twice: its loop on the host, and on the device.
#pragma once

#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <vector>

namespace cg {

struct Problem {
    int side = 64; ///< values in a row of the grid
    double tolerance = 1e-8;
    unsigned most = 10'000; ///< maximum number of iterations
};

/// A right side with a known solution: `right_side` is A times `known_solution`.
std::vector<double> known_solution(const Problem& problem);
std::vector<double> right_side(const Problem& problem);

/// The length of A * x - right, relative to that of right, in plain C++.
double relative_residual(const Problem& problem, const std::vector<double>& x);

struct Solution {
    std::vector<double> x;
    unsigned iterations = 0;
};

/// The memory of a solver.
struct Fields {
    explicit Fields(const Problem& problem);

    Problem problem;
    cudag::PinnedBuffer<double> host; ///< the right side, then the solution
    cudag::PinnedBuffer<State> host_state;
    cudag::DeviceBuffer<double> right, x, residual, direction, product, part;
    cudag::DeviceBuffer<State> state;

    [[nodiscard]] Solution solution() const;
};

/// Launches the kernels of an iteration, copies its state to the host, waits, and decides.
class HostLoop {
  public:
    explicit HostLoop(const Problem& problem) : fields_(problem) {}
    /// Solves, and waits for it.
    void run(cudag::Stream& stream);
    [[nodiscard]] Solution solution() const { return fields_.solution(); }

  private:
    Fields fields_;
};

/// One launch of a graph with the loop in a while node.
class DeviceLoop {
  public:
    explicit DeviceLoop(const Problem& problem);
    /// Solves, and waits for it.
    void run(cudag::Stream& stream);
    [[nodiscard]] Solution solution() const { return fields_.solution(); }
    [[nodiscard]] const cudag::Graph& graph() const { return graph_; }

  private:
    Fields fields_;
    cudag::Graph graph_;
    cudag::Exec exec_;
};

} // namespace cg
