// Costs of running several lanes of nodes at once.
#pragma once

#include <array>
#include <cstddef>

namespace cudag::detail {

/// A GPU's costs for chains of kernels that run concurrently. In microseconds, from `bench/lanes`.
struct LaneCosts {
    static constexpr std::array<double, 8> lanes{1, 2, 4, 8, 16, 32, 64, 128};
    static constexpr std::array<double, 4> durations{0, 5, 20, 50};

    /// Time from the end of a kernel to the start of the next one on its lane, by the number of `lanes` that run at
    /// once and the kernels' `durations`: the device starts one kernel after the other.
    std::array<std::array<double, durations.size()>, lanes.size()> gaps;
    /// Additional time if the next kernel is on another lane.
    double crossing;

    /// The gap for `count` lanes of kernels of length `duration`. Interpolates between measurements, and extrapolates
    /// to more lanes; longer kernels count as the longest measured.
    [[nodiscard]] double gap(std::size_t count, double duration) const noexcept;
};

/// The costs for GPUs with compute capability `major`.`minor`, or for the most similar measured ones.
[[nodiscard]] LaneCosts lane_costs(int major, int minor) noexcept;

} // namespace cudag::detail
