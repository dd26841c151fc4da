// What it costs to run so many lanes of nodes at once.
#pragma once

#include <array>
#include <cstddef>

namespace cudag::detail {

/// What a GPU makes of chains of kernels that run at once. In microseconds, from `bench/lanes`.
struct LaneCosts {
    static constexpr std::array<double, 8> lanes{1, 2, 4, 8, 16, 32, 64, 128};
    static constexpr std::array<double, 4> durations{0, 5, 20, 50};

    /// From the end of a kernel to the begin of the next one on its lane, by `lanes` that run at once and the kernels'
    /// `durations`: the device begins one kernel after the other.
    std::array<std::array<double, durations.size()>, lanes.size()> gaps;
    /// How much longer it takes where the next one is on another lane.
    double crossing;

    /// Of `count` lanes of kernels that take `duration`: between what was measured in proportion, so for more lanes;
    /// for longer kernels like the longest.
    [[nodiscard]] double gap(std::size_t count, double duration) const noexcept;
};

/// Those of GPUs with a compute capability of `major`.`minor`, or of the most similar ones that were measured.
[[nodiscard]] LaneCosts lane_costs(int major, int minor) noexcept;

} // namespace cudag::detail
