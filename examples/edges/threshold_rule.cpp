// The threshold follows the contrast: a dim frame keeps its faint edges, a bright one loses its noise.
#include "threshold_rule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace edges {
namespace {

constexpr std::size_t bins = 256;

} // namespace

int threshold_from(std::span<const unsigned> histograms) {
    std::array<std::uint64_t, bins> counts{};
    for (std::size_t i = 0; i < histograms.size(); ++i) {
        counts[i % bins] += histograms[i];
    }
    std::uint64_t pixels = 0;
    for (const std::uint64_t count : counts) {
        pixels += count;
    }
    const auto first_level_beyond = [pixels](auto begin, auto end) {
        std::uint64_t seen = 0;
        return std::find_if(begin, end, [&](std::uint64_t count) { return (seen += count) * 16 > pixels; }) - begin;
    };
    const auto dark = first_level_beyond(counts.begin(), counts.end());
    const auto bright = 255 - first_level_beyond(counts.rbegin(), counts.rend());
    return std::max(static_cast<int>(bright - dark) / 8, 4);
}

} // namespace edges
