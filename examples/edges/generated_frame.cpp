// A disc in front of a checkerboard, with a little noise.
#include "generated_frame.hpp"

#include <algorithm>

namespace edges {
namespace {

/// Goes from 0 to `height` and back while `step` goes through 2 * `height` values.
int back_and_forth(int step, int height) {
    const int phase = step % (2 * height);
    return phase < height ? phase : 2 * height - phase;
}

/// 0 to 7, without a pattern that the eye finds.
int noise(int x, int y, int frame) {
    std::uint32_t hash = static_cast<std::uint32_t>(x) * 0x9E3779B1U ^ static_cast<std::uint32_t>(y) * 0x85EBCA77U ^
                         static_cast<std::uint32_t>(frame) * 0xC2B2AE3DU;
    hash = (hash ^ hash >> 15) * 0x2C1B3C6DU;
    return static_cast<int>(hash >> 29);
}

} // namespace

Image generate_frame(Size size, std::size_t index) {
    const int frame = static_cast<int>(index % 1'000'000);
    const int contrast = 40 + 5 * back_and_forth(frame, 30);
    const int cell = std::max(size.height / 12, 4);
    const int radius = std::max(size.height / 5, 2);
    const int centre_x = back_and_forth(frame * cell / 8, size.width);
    const int centre_y = back_and_forth(frame * cell / 12, size.height);

    Image image{size, std::vector<std::uint8_t>(size.pixels() * 3)};
    auto out = image.rgb.begin();
    for (int y = 0; y < size.height; ++y) {
        const int row = (y + frame) / cell;
        const int dy = y - centre_y;
        for (int x = 0; x < size.width; ++x) {
            const int dx = x - centre_x;
            const bool disc = dx * dx + dy * dy < radius * radius;
            const bool light = ((x + 2 * frame) / cell + row) % 2 == 0;
            const int level = 10 + noise(x, y, frame) + (disc ? contrast : light ? contrast / 2 : 0);
            *out++ = static_cast<std::uint8_t>(level + (disc ? 40 : 0));
            *out++ = static_cast<std::uint8_t>(level + 20 * y / size.height);
            *out++ = static_cast<std::uint8_t>(level + (light ? 25 : 0));
        }
    }
    return image;
}

} // namespace edges
