// Shapes drawn at random from many families.
#pragma once

#include "shapes.hpp"

#include <cstddef>

namespace bench {

/// The shape number `seed`. Equal seeds give equal shapes, with any standard library. Two seeds 2 * n and 2 * n + 1
/// draw from the same family.
[[nodiscard]] Shape drawn_shape(unsigned seed);

/// What a plan can change in a shape.
struct Traits {
    std::size_t width = 0;      ///< most nodes that are equally far from the beginning
    bool has_joins = false;     ///< barriers
    bool has_redundant = false; ///< edges implied by others
};

[[nodiscard]] Traits traits_of(const Shape& shape);

} // namespace bench
