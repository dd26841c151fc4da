// Pixel by pixel, without a thought of speed.
#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace photo {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::array<int, 2> range_of(const Bytes& rgb, int clipped) {
    std::array<std::size_t, 256> histogram{};
    for (std::size_t i = 0; i < rgb.size(); i += 3)
        ++histogram[static_cast<std::size_t>((77 * rgb[i] + 150 * rgb[i + 1] + 29 * rgb[i + 2] + 128) / 256)];
    const std::size_t limit = rgb.size() / 3 * static_cast<std::size_t>(clipped) / 1000;
    // The first level with more than `limit` pixels up to it, and the last one with more than `limit` from it on.
    std::size_t black = 0, white = 255, sum = 0;
    while (black < 255 && (sum += histogram[black]) <= limit)
        ++black;
    sum = 0;
    while (white > black + 1 && (sum += histogram[white]) <= limit)
        --white;
    return {static_cast<int>(std::min<std::size_t>(black, 254)), static_cast<int>(white)};
}

Bytes blurred(const Bytes& in, int width, int height, int step_x, int step_y) {
    constexpr std::array weights{1, 4, 6, 4, 1};
    Bytes out(in.size());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int channel = 0; channel < 3; ++channel) {
                int sum = 8;
                for (int k = -2; k <= 2; ++k) {
                    const int column = std::clamp(x + k * step_x, 0, width - 1);
                    const int row = std::clamp(y + k * step_y, 0, height - 1);
                    sum += weights[static_cast<std::size_t>(k + 2)] *
                           in[static_cast<std::size_t>(3 * (row * width + column) + channel)];
                }
                out[static_cast<std::size_t>(3 * (y * width + x) + channel)] = static_cast<std::uint8_t>(sum / 16);
            }
    return out;
}

} // namespace

Bytes developed(const example::Image& image, int clipped, int amount) {
    const auto [black, white] = range_of(image.rgb, clipped);
    Bytes result = image.rgb;
    for (std::uint8_t& value : result)
        value = static_cast<std::uint8_t>(std::clamp((value - black) * 255 / (white - black), 0, 255));
    const auto [width, height] = image.size;
    const Bytes soft = blurred(blurred(result, width, height, 1, 0), width, height, 0, 1);
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = static_cast<std::uint8_t>(std::clamp(result[i] + (result[i] - soft[i]) * amount / 100, 0, 255));
    return result;
}

} // namespace photo
