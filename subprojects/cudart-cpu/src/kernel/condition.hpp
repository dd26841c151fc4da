// The numbers on which conditional nodes decide.
#pragma once

#include <driver_types.h>

#include <atomic>
#include <vector>

namespace cudart_cpu::detail {

/// A graph's data for one handle. The handles of a graph and of the bodies in it count from 1, as on a GPU: a kernel's
/// handle belongs to the graph being launched.
struct Condition {
    unsigned initial = 0;
    bool is_assigned = false; // each launch assigns the initial value
    bool has_node = false;
};

/// The values of an exec's handles. Values stay from launch to launch.
class ConditionValues {
  public:
    explicit ConditionValues(std::size_t count) : values_(count) {}

    void begin_launch(const std::vector<Condition>& conditions) noexcept;

    /// Ignores an unknown handle.
    void set(cudaGraphConditionalHandle handle, unsigned value) noexcept;
    unsigned get(cudaGraphConditionalHandle handle) const noexcept;

  private:
    std::vector<std::atomic<unsigned>> values_;
};

} // namespace cudart_cpu::detail
