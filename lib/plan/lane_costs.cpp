// Costs of running several lanes of nodes at once.
#include "lane_costs.hpp"

#include <algorithm>

namespace cudag::detail {

namespace {

/// The place of `value` in `known`: the index of the value before it, never the last, and the fraction of the way to
/// the next one.
template <std::size_t size>
std::pair<std::size_t, double> place_of(double value, const std::array<double, size>& known) {
    const auto above = std::upper_bound(known.begin() + 1, known.end() - 1, value);
    const auto before = static_cast<std::size_t>(above - known.begin()) - 1;
    return {before, (value - known[before]) / (*above - known[before])};
}

} // namespace

double LaneCosts::gap(std::size_t count, double duration) const noexcept {
    const auto [row, down] = place_of(static_cast<double>(count), lanes);
    const auto [column, right] = place_of(std::min(duration, durations.back()), durations);
    const auto in_row = [&, column = column, right = right](std::size_t at) {
        return gaps[at][column] + right * (gaps[at][column + 1] - gaps[at][column]);
    };
    return in_row(row) + down * (in_row(row + 1) - in_row(row));
}

LaneCosts lane_costs(int, int) noexcept {
    // H200, a driver for CUDA 13.0, for every GPU: on an H100 gaps are up to 0.4 longer, with the same choices
    return {.gaps = {{{.50, .54, .52, .53},
                      {.64, .66, .63, .67},
                      {.79, .68, .64, .66},
                      {1.40, .71, .69, .70},
                      {2.80, .87, .95, .97},
                      {5.62, 1.33, 1.28, 1.30},
                      {11.30, 7.03, 2.08, 2.11},
                      {22.76, 19.17, 7.32, 4.93}}},
            .crossing = .32}; // the .54 of a fork into three, less the additional cost of three lanes over one
}

} // namespace cudag::detail
