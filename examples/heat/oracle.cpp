#include "oracle.hpp"

#include <algorithm>
#include <cstddef>

namespace heat {

std::vector<float> oracle(const Plate& plate, unsigned sweeps) {
    const auto side = static_cast<std::size_t>(plate.side);
    const auto width = static_cast<std::size_t>(plate.width());
    std::vector<float> from(width * (side + 2));
    std::fill_n(from.begin() + 1, side, 1.0f);
    std::vector<float> to = from;
    for (unsigned sweep = 0; sweep < sweeps; ++sweep) {
        for (std::size_t y = 1; y <= side; ++y)
            for (std::size_t x = 1; x <= side; ++x) {
                const float* at = from.data() + y * width + x;
                to[y * width + x] = at[0] + 0.125f * (*(at - width) + at[-1] + at[1] + at[width] - 4.0f * at[0]);
            }
        from.swap(to);
    }
    return {from.begin() + static_cast<std::ptrdiff_t>(width), from.end() - static_cast<std::ptrdiff_t>(width)};
}

} // namespace heat
