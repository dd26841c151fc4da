// The plain C++ twin of kernels.cu. It shares no code with the kernels, so that both cannot be wrong alike.
#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "threshold_rule.hpp"

namespace edges {
namespace {

/// One value per pixel. Outside of the plane its border goes on.
struct Plane {
    Size size;
    std::vector<int> values;

    int at(int x, int y) const {
        x = std::clamp(x, 0, size.width - 1);
        y = std::clamp(y, 0, size.height - 1);
        return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x)];
    }
};

/// The plane whose pixel (x, y) is `value(x, y)`.
template <class Value>
Plane make_plane(Size size, Value value) {
    Plane plane{size, {}};
    plane.values.reserve(size.pixels());
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            plane.values.push_back(value(x, y));
        }
    }
    return plane;
}

Plane grey_of(const Image& frame) {
    auto colour = frame.rgb.begin();
    return make_plane(frame.size, [&](int, int) {
        const int red = *colour++;
        const int green = *colour++;
        const int blue = *colour++;
        return (77 * red + 150 * green + 29 * blue + 128) / 256;
    });
}

Plane blurred(const Plane& in) {
    constexpr std::array<int, 5> weights{1, 4, 6, 4, 1};
    const auto weighted_sum = [&](auto at) {
        int sum = 8;
        for (int tap = -2; tap <= 2; ++tap) {
            sum += weights[static_cast<std::size_t>(tap + 2)] * at(tap);
        }
        return sum / 16;
    };
    const Plane rows =
        make_plane(in.size, [&](int x, int y) { return weighted_sum([&](int tap) { return in.at(x + tap, y); }); });
    return make_plane(in.size,
                      [&](int x, int y) { return weighted_sum([&](int tap) { return rows.at(x, y + tap); }); });
}

/// The sum of a pixel's neighbours, weighted by a 3x3 matrix.
int neighbours(const Plane& in, int x, int y, const std::array<std::array<int, 3>, 3>& weights) {
    int sum = 0;
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            sum += weights[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] *
                   in.at(x + column - 1, y + row - 1);
        }
    }
    return sum;
}

} // namespace

Expected expected_result(const Image& frame, int threshold) {
    const Plane grey = grey_of(frame);
    const Plane smooth = blurred(grey);

    Expected expected;
    expected.edges.reserve(frame.size.pixels());
    for (int y = 0; y < frame.size.height; ++y) {
        for (int x = 0; x < frame.size.width; ++x) {
            const int across = neighbours(smooth, x, y, {{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}});
            const int down = neighbours(smooth, x, y, {{{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}}});
            const int magnitude = std::min((std::abs(across) + std::abs(down)) / 4, 255);
            expected.edges.push_back(magnitude > threshold ? 255 : 0);
        }
    }

    std::array<unsigned, 256> histogram{};
    for (const int level : grey.values) {
        ++histogram[static_cast<std::size_t>(level)];
    }
    expected.next_threshold = threshold_from(histogram);
    return expected;
}

} // namespace edges
