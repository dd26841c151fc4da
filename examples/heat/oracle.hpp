// The same sweeps in plain C++, by one rank.
#pragma once

#include <vector>

namespace heat {

/// The plate: a square of `side` values per side. The values around it are 0, and 1 above it.
struct Plate {
    int side;
    [[nodiscard]] int width() const { return side + 2; } ///< of a row, with a value of the frame at each end
};

/// Returns the rows of the plate after `sweeps` sweeps from 0, each `plate.width()` long.
std::vector<float> oracle(const Plate& plate, unsigned sweeps);

} // namespace heat
