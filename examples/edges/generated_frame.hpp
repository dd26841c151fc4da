// The input when none is given: a moving scene whose contrast swings from frame to frame.
#pragma once

#include <cstddef>

#include "image.hpp"

namespace edges {

/// Frame `index` of the scene: the same arguments give the same pixels, on every machine.
Image generate_frame(Size size, std::size_t index);

} // namespace edges
